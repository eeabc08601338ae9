/**
 * `npm run api:generate`: the OpenAPI document of a server of this source → src/dashboard/api/schema.gen.ts, the types that the dashboard is
 * checked against. `--check` fails when the file is not what the document says.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { silentLog } from '../src/base/log.ts';
import { checkServerConfig } from '../src/config/load.ts';
import { startServer } from '../src/server/start.ts';

const FILE = join(import.meta.dirname, '../src/dashboard/api/schema.gen.ts');
const HEADER = '/** Made by `npm run api:generate` out of the OpenAPI document: never edited. */\n';

type Operation = { responses?: Record<string, { headers?: unknown }>; tags?: string[] };

/** Refusals have one shape (`components.schemas.Error`), and pages are not called: without them the types are a third as long. */
function trimmed(document: OpenAPI3): OpenAPI3 {
  for (const [path, methods] of Object.entries(document.paths ?? {})) {
    const operations = Object.values(methods) as Operation[];
    if (operations.some(({ tags }) => tags?.includes('pages'))) delete document.paths?.[path];
    for (const { responses = {} } of operations) {
      for (const status of Object.keys(responses)) {
        if (!status.startsWith('2')) delete responses[status];
        else delete responses[status]?.headers;
      }
    }
  }
  return document;
}

/** As a running server serves it. */
async function readDocument(): Promise<OpenAPI3> {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-api-'));
  const listeners = ['api', 'agents'].map((name) => `[${name}]\nlisten = "127.0.0.1:0"`).join('\n');
  const toml = `data_dir = "${folder}"\n${listeners}\n[edge]\nhttp_listen = "127.0.0.1:0"`;
  const server = await startServer(checkServerConfig(toml, 'types.toml').settings, {
    version: '0.0.0',
    log: silentLog,
  });
  try {
    return (await (await fetch(`${server.apiUrl}/openapi.json`)).json()) as OpenAPI3;
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const types = astToString(await openapiTypes(trimmed(await readDocument()), { alphabetize: true }));
/** Kinds that the document has nothing of are left out. */
const made = HEADER + types.replaceAll(/^export type \S+ = Record<string, never>;\n/gm, '');
if (!process.argv.includes('--check')) writeFileSync(FILE, made);
else if (readFileSync(FILE, 'utf8') !== made) {
  console.error('src/dashboard/api/schema.gen.ts is not what the OpenAPI document says: npm run api:generate');
  process.exitCode = 1;
}
