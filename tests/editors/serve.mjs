// What the drivers share: the conversation with the tests, and plain text out of what an editor would render.

import { createInterface } from 'node:readline';

const PATIENCE_MS = 60_000;

/** Answer each request, a line of JSON on standard input, with a line of JSON on standard output. */
export async function serve(operations) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { op, ...request } = JSON.parse(line);
    const watchdog = setTimeout(() => {
      throw new Error(`no answer to ${op} after ${PATIENCE_MS} ms`);
    }, PATIENCE_MS);
    const answer = await operations[op](request);
    clearTimeout(watchdog);
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}

/** A diagnostic as the text it underlines and what it says. */
export const finding = (document, { range, message }) => ({ path_or_text: document.getText(range), message });

/** A completion item as its label, what is told beside it and what it inserts. */
export const completion = ({ label, detail, documentation, insertText, textEdit }) => ({
  label,
  documentation: [detail, plain(documentation)].filter(Boolean).join('\n'),
  insert_text: textEdit?.newText ?? insertText ?? label,
});

/** What a hover shows; nothing where there is none. */
export const hover = (shown) => [shown?.contents ?? []].flat().map(plain).join('\n\n');

const plain = (markup) => markup?.value ?? markup ?? '';
