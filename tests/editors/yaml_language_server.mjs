// Drives yaml-language-server over LSP, as an editor does: `node yaml_language_server.mjs SCHEMA_FILE`.

import { spawn } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import vscode from 'vscode-json-languageservice';
import rpc from 'vscode-jsonrpc/node.js';
import { completion, finding, hover, serve } from './serve.mjs';

const { TextDocument } = vscode;

const SERVER = fileURLToPath(new URL('node_modules/yaml-language-server/bin/yaml-language-server', import.meta.url));
const MARKDOWN = ['markdown'];

const schema = pathToFileURL(process.argv[2]).href;
const settings = {
  yaml: { schemas: { [schema]: '*.yaml' }, validate: true, completion: true, hover: true, schemaStore: { enable: false } },
};

const server = spawn(process.execPath, [SERVER, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
server.once('exit', (code) => process.exit(code ?? 1));
const connection = rpc.createMessageConnection(
  new rpc.StreamMessageReader(server.stdout),
  new rpc.StreamMessageWriter(server.stdin),
);

const waiting = new Map();
connection.onNotification('textDocument/publishDiagnostics', ({ uri, diagnostics }) => waiting.get(uri)?.(diagnostics));
const configured = new Promise((resolve) => {
  connection.onRequest('workspace/configuration', ({ items }) => {
    resolve();
    return items.map(({ section }) => settings[section] ?? null);
  });
});
connection.listen();
await connection.sendRequest('initialize', {
  processId: process.pid,
  rootUri: new URL('.', schema).href,
  capabilities: {
    workspace: { configuration: true },
    textDocument: {
      completion: { completionItem: { snippetSupport: true, documentationFormat: MARKDOWN } },
      hover: { contentFormat: MARKDOWN },
    },
  },
});
await connection.sendNotification('initialized', {});
// A document opened before the settings have arrived would be found faultless: it has no schema yet.
await configured;

let opened = 0;

/** Open a document beside the schema, under a name of its own so that many can be open at once. */
function open(text) {
  opened += 1;
  const document = TextDocument.create(new URL(`${opened}.yaml`, schema).href, 'yaml', 1, text);
  const { uri, languageId, version } = document;
  connection.sendNotification('textDocument/didOpen', { textDocument: { uri, languageId, version, text } });
  return document;
}

function close({ uri }) {
  waiting.delete(uri);
  connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
}

async function diagnose(text) {
  const document = open(text);
  const diagnostics = await new Promise((resolve) => waiting.set(document.uri, resolve));
  close(document);
  return diagnostics.map((diagnostic) => finding(document, diagnostic));
}

/** What the server answers about the place between the two texts. */
async function ask(method, { before, after }) {
  const document = open(before + after);
  const position = document.positionAt(before.length);
  const answer = await connection.sendRequest(method, { textDocument: { uri: document.uri }, position });
  close(document);
  return answer;
}

await serve({
  async diagnose({ texts }) {
    return Promise.all(texts.map(diagnose));
  },
  async complete(place) {
    const { items } = await ask('textDocument/completion', place);
    return items.map(completion);
  },
  async hover(place) {
    return hover(await ask('textDocument/hover', place));
  },
});
await connection.sendRequest('shutdown');
await connection.sendNotification('exit');
