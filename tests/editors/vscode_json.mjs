// Drives the JSON service of VS Code: `node vscode_json.mjs SCHEMA_FILE`.

import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import vscode from 'vscode-json-languageservice';
import { completion, finding, hover, serve } from './serve.mjs';

const { ClientCapabilities, getLanguageService, TextDocument } = vscode;

const schema = pathToFileURL(process.argv[2]).href;
const service = getLanguageService({
  clientCapabilities: ClientCapabilities.LATEST,
  schemaRequestService: (uri) => readFile(fileURLToPath(uri), 'utf8'),
  workspaceContext: { resolveRelativePath: (path, base) => new URL(path, base).href },
});
service.configure({ validate: true, schemas: [{ uri: schema, fileMatch: ['*.json'] }] });

/** The document beside the schema with this text, parsed. */
function open(text) {
  const document = TextDocument.create(new URL('document.json', schema).href, 'json', 1, text);
  return [document, service.parseJSONDocument(document)];
}

async function diagnose(text) {
  const [document, json] = open(text);
  const diagnostics = await service.doValidation(document, json, { schemaValidation: 'error' });
  return diagnostics.map((diagnostic) => finding(document, diagnostic));
}

await serve({
  async diagnose({ texts }) {
    return Promise.all(texts.map(diagnose));
  },
  async complete({ before, after }) {
    const [document, json] = open(before + after);
    const { items } = await service.doComplete(document, document.positionAt(before.length), json);
    return items.map(completion);
  },
  async hover({ before, after }) {
    const [document, json] = open(before + after);
    return hover(await service.doHover(document, document.positionAt(before.length), json));
  },
});
