/** `culvert setup --local`: a server on this machine alone, in the foreground, with its files in a folder of the user's. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { loadServerConfig } from '../../config/load.ts';
import type { Server } from '../../server/start.ts';
import { realSystem } from '../checks/system.ts';
import { serveThen } from '../server/serve.ts';
import type { Invocation } from '../terminal/command.ts';
import type { ExitCode } from '../terminal/exit.ts';
import { type Io, writeLine } from '../terminal/io.ts';

const HOST = '127.0.0.1';

/** Makes the folder at the first run; each run starts the server until Ctrl-C. */
export async function setupLocal(io: Io, { flags }: Invocation): Promise<ExitCode> {
  const file = typeof flags['config'] === 'string' ? flags['config'] : await ensureFiles(folderOf(io.env));
  const key = join(loadServerConfig(file, io).settings.data_dir, '..', 'agent.key');
  return serveThen(io, { args: [], flags: { config: file } }, async (server) => {
    if (server.firstOwner !== undefined) await keepKey(server, key);
    sayNext(io, server, key);
  });
}

function folderOf(env: NodeJS.ProcessEnv): string {
  const base = env['XDG_DATA_HOME'] || join(env['HOME'] || homedir(), '.local/share');
  return join(base, 'culvert-local');
}

/** The usual ports where they are free, at the first run; they stay the same from then on. */
async function ensureFiles(folder: string): Promise<string> {
  const file = join(folder, 'server.toml');
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const [api, http, agents] = [await freePort(9_090), await freePort(8_080), await freePort(7_443)];
  const lines = [
    '# A server for this machine alone, written by culvert setup --local. All other settings have their defaults.',
    `data_dir = ${JSON.stringify(join(folder, 'data'))}`,
    `api.listen = "${HOST}:${api}"`,
    `edge.http_listen = "${HOST}:${http}"`,
    `agents.listen = "${HOST}:${agents}"`,
    'accounts.signup = "closed"',
    'billing.mode = "none"',
    'plans.default = "enterprise"',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return file;
}

async function freePort(first: number): Promise<number> {
  const system = realSystem();
  for (let port = first; port < first + 100; port++)
    if ((await system.tryListen({ host: HOST, port })) === undefined) return port;
  throw new Error(`no port from ${first} to ${first + 99} is free on ${HOST}. Stop a program that listens there`);
}

const loggedIn = z.looseObject({ access_token: z.string() });
const minted = z.looseObject({ apiKey: z.string() });
/** The longest that a key may live. */
const KEY_HOURS = 2_160;

/** A key for agents of this machine, so that the printed command runs as it stands. */
async function keepKey({ apiUrl, firstOwner }: Server, file: string): Promise<void> {
  if (firstOwner === undefined) return;
  const body = { email: firstOwner.email, password: firstOwner.password.reveal() };
  const { access_token: bearer } = loggedIn.parse(await post(`${apiUrl}/auth/login`, body));
  const { apiKey } = minted.parse(await post(`${apiUrl}/tokens`, { name: 'local', ttlHours: KEY_HOURS }, bearer));
  writeFileSync(file, apiKey, { mode: 0o600 });
}

async function post(url: string, body: object, bearer?: string): Promise<unknown> {
  const authorization = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${url} responded with ${response.status}: ${await response.text()}`);
  return response.json();
}

function sayNext(io: Io, { apiUrl, addresses }: Server, key: string): void {
  const { http } = addresses;
  const port = http === null || http.port === 80 ? '' : `:${http.port}`;
  const lines = [
    '',
    `Dashboard: ${apiUrl}/app/`,
    'In another terminal, publish port 3000 of this machine:',
    existsSync(key)
      ? `  culvert http 3000 --subdomain hello --server ${apiUrl} --token-file ${key}`
      : `  culvert login --server ${apiUrl} && culvert http 3000 --subdomain hello --server ${apiUrl}`,
    `It is then at http://hello.localhost${port}. Press Ctrl-C to stop; the next start goes on with the same files.`,
  ];
  writeLine(io.stdout, lines.join('\n'));
}
