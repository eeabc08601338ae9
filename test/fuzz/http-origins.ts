/**
 * Services for the HTTP fuzzer, each with a parser of its own: node:http in this process, and, where they are installed,
 * Go's net/http, Python's http.server and nginx. Each tells which requests it read and who they claim to come from.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Scope } from '../../src/data/edge/testing/rig.ts';
import { missing } from '../harness/tools.ts';

/** One request as a service read it. */
export interface Seen {
  /** Method and target. */
  readonly line: string;
  /** All X-Forwarded-For lines. */
  readonly from: readonly string[];
  readonly host?: string;
  /** Digest of the body; missing while it is not complete. */
  body?: string;
}

export interface Origin {
  readonly name: string;
  readonly port: number;
  /** What it read since the last call. */
  take(): Seen[];
  /** What it refused to read, by its own code. */
  readonly refused: string[];
}

const SOURCES = join(import.meta.dirname, 'origins');
/** Not in the folder of a run: half a minute of compiling is kept for the next. */
const GOCACHE = join(import.meta.dirname, '../../node_modules/.cache/go');

export type OriginName = 'node' | 'go' | 'python' | 'nginx';

/** A service on node:http. */
export async function nodeOrigin(scope: Scope): Promise<Origin> {
  const seen: Seen[] = [];
  const refused: string[] = [];
  const server = createServer((request, response) => {
    const entry = headOf(request);
    seen.push(entry);
    const hash = createHash('sha256');
    request.on('data', (piece: Buffer) => hash.update(piece));
    request.on('error', () => {});
    request.on('end', () => {
      entry.body = hash.digest('hex').slice(0, 12);
      response.end('ok');
    });
  });
  server.on('connect', (request, socket) => {
    seen.push({ ...headOf(request), body: '' });
    socket.end();
  });
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (error.code !== 'ECONNRESET') refused.push(error.code ?? error.message);
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { name: 'node', port: address.port, take: () => seen.splice(0), refused };
}

function headOf(request: IncomingMessage): Seen {
  const from: string[] = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2)
    if (/^x[-_]forwarded[-_]for$/i.test(request.rawHeaders[i] ?? '')) from.push(request.rawHeaders[i + 1] ?? '');
  return { line: `${request.method} ${request.url}`, from, host: request.headers.host ?? '' };
}

/** What each of them needs; the one in this process needs nothing. */
const PROGRAMS = { go: 'go', python: 'python3', nginx: 'nginx' } as const;

/** Why there is no such service here, or false. */
export function noOrigin(name: OriginName): string | false {
  return name !== 'node' && missing(PROGRAMS[name]);
}

/** A service: in this process, or in a program of its own. */
export function startOrigin(name: OriginName, scope: Scope): Promise<Origin> {
  return name === 'node' ? nodeOrigin(scope) : foreignOrigin(name, scope);
}

async function foreignOrigin(name: keyof typeof PROGRAMS, scope: Scope): Promise<Origin> {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-fuzz-'));
  scope.after(() => rmSync(folder, { recursive: true, force: true }));
  if (name === 'nginx') return nginx(folder, scope);
  if (name === 'python')
    return program(name, spawn(PROGRAMS.python, [join(SOURCES, 'main.py')], { stdio: PIPES }), scope);
  const path = join(folder, 'origin');
  const env = { ...process.env, GO111MODULE: 'off', GOCACHE };
  execFileSync('go', ['build', '-o', path, join(SOURCES, 'main.go')], { env });
  return program(name, spawn(path, { stdio: PIPES }), scope);
}

const PIPES: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];

async function program(name: string, child: ChildProcess, scope: Scope): Promise<Origin> {
  scope.after(() => void child.kill('SIGKILL'));
  const seen: Seen[] = [];
  if (child.stdout === null) throw new Error('no pipe');
  const lines = createInterface({ input: child.stdout });
  const [port] = (await once(lines, 'line')) as [string];
  lines.on('line', (line) => seen.push(seenOf(line)));
  return { name, port: Number(port), take: () => seen.splice(0), refused: [] };
}

async function nginx(folder: string, scope: Scope): Promise<Origin> {
  const free = createTcpServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const address = free.address();
  free.close();
  await once(free, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  const log = join(folder, 'access');
  const config = `daemon off; master_process off; pid ${folder}/pid; error_log /dev/null;
events { worker_connections 512; }
http {
  log_format seen escape=json '{"line":"$request_method $request_uri","from":["$http_x_forwarded_for"],"status":"$status"}';
  access_log ${log} seen;
  client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder}; uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  server { listen 127.0.0.1:${address.port}; location / { return 200 "ok"; } }
}`;
  writeFileSync(join(folder, 'nginx.conf'), config);
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: PIPES });
  scope.after(() => void child.kill('SIGKILL'));
  while (!(await accepts(address.port))) if (child.exitCode !== null) throw new Error('nginx does not start');
  const refused: string[] = [];
  const file = openSync(log, 'r');
  scope.after(() => closeSync(file));
  const piece = Buffer.alloc(1 << 20);
  let rest = '';
  const take = (): Seen[] => {
    rest += piece.toString('latin1', 0, readSync(file, piece));
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    const seen: Seen[] = [];
    for (const line of lines) {
      const status = /"status":"(\d+)"/.exec(line)?.[1] ?? '';
      // What it refused it may not have read so far that it knows the fields.
      if (status === '200') seen.push(seenOf(line));
      else refused.push(status);
    }
    return seen;
  };
  return { name: 'nginx', port: address.port, take, refused };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

function seenOf(line: string): Seen {
  return JSON.parse(line) as Seen;
}
