/**
 * `npm run api:types`: the OpenAPI document of a server of this source → src/dashboard/api/schema.gen.ts, the types that the dashboard is checked
 * against. Not stored: made before they are needed (types, lint), and anew when a file that the document may come from has changed.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenAPI3 } from 'openapi-typescript';

const ROOT = join(import.meta.dirname, '..');
const FILE = join(ROOT, 'src/dashboard/api/schema.gen.ts');

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
  const { silentLog } = await import('../src/base/log.ts');
  const { checkServerConfig } = await import('../src/config/load.ts');
  const { startServer } = await import('../src/server/start.ts');
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

/** The first line of the file: what it was made from. */
function header(): string {
  const hash = createHash('sha256');
  const sources = globSync(['src/**/*.ts', 'scripts/gen-api-types.ts', 'package-lock.json'], { cwd: ROOT });
  for (const path of sources.sort()) {
    if (path.startsWith('src/dashboard/') || path.endsWith('.test.ts')) continue;
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(ROOT, path)));
  }
  return `/** Generated from the OpenAPI document of ${hash.digest('hex')}. Do not edit. */`;
}

const first = header();
if (!existsSync(FILE) || !readFileSync(FILE, 'utf8').startsWith(first)) {
  // Loaded here, as they take longer than to see that nothing has changed.
  const { default: openapiTypes, astToString } = await import('openapi-typescript');
  const types = astToString(await openapiTypes(trimmed(await readDocument()), { alphabetize: true }));
  // Kinds that the document has nothing of are left out.
  writeFileSync(FILE, `${first}\n${types.replaceAll(/^export type \S+ = Record<string, never>;\n/gm, '')}`);
}
