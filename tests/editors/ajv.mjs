// Drives ajv, the validator of most JavaScript tools: `node ajv.mjs SCHEMA_FILE`.

import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { serve } from './serve.mjs';

const schema = JSON.parse(await readFile(process.argv[2], 'utf8'));
const Validator = schema.$schema.includes('2020-12') ? Ajv2020 : Ajv;
// Not strict: keywords that only editors know are no mistake.
const validate = new Validator({ strict: false, allErrors: true }).compile(schema);

function diagnose(text) {
  validate(JSON.parse(text));
  return (validate.errors ?? []).map(({ instancePath, message, params }) => ({
    path_or_text: instancePath.slice(1).replaceAll('/', '.'),
    message: `${message} ${JSON.stringify(params)}`,
  }));
}

await serve({ diagnose: ({ texts }) => texts.map(diagnose) });
