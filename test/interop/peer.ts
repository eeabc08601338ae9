/**
 * Starts the Go peer (go/main.go) and joins a session of ours to it over loopback TCP. Used by the tests of this folder.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Sweeper } from '../../src/base/clock.ts';
import { SlabPool } from '../../src/base/bytes/slab.ts';
import { type AttachOptions, attachSession } from '../../src/mux/attach.ts';
import type { MuxSession } from '../../src/mux/session.ts';
import type { MuxStream } from '../../src/mux/stream.ts';
import type { MuxError } from '../../src/mux/types.ts';
import { WindowBudget } from '../../src/mux/window.ts';
import { missing } from '../harness/tools.ts';

const SOURCE = join(import.meta.dirname, 'go');

/** Why Go can't be used here, or false when it can. */
export function whyNoGo(): string | false {
  const without = missing('go');
  if (without !== false) return without;
  try {
    execFileSync('go', ['list', 'github.com/hashicorp/yamux'], { env: goEnvironment(tmpdir()), stdio: 'ignore' });
    return false;
  } catch {
    return 'not installed: golang-github-hashicorp-yamux-dev';
  }
}

function goEnvironment(cache: string): NodeJS.ProcessEnv {
  return { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(cache, 'go-cache') };
}

/** Builds the Go peer. `remove` deletes it. */
export function buildPeer(): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-interop-'));
  const path = join(folder, 'peer');
  execFileSync('go', ['build', '-o', path, '.'], { cwd: SOURCE, env: goEnvironment(tmpdir()), stdio: 'inherit' });
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface Joined {
  readonly session: MuxSession;
  readonly sweeper: Sweeper<MuxSession>;
  readonly budget: WindowBudget;
  readonly ended: Promise<MuxError>;
  /** The next line that the peer prints. */
  line(): Promise<string>;
  /** Says a word on the peer's stdin and gives its answer. */
  ask(order: string): Promise<string>;
  stop(): Promise<void>;
}

export interface JoinOptions extends Partial<AttachOptions> {
  readonly goRole: 'client' | 'server';
  readonly args?: readonly string[];
  readonly onStream?: (stream: MuxStream) => void;
}

/** Runs the peer in `goRole` and takes the other role. */
export async function joinPeer(path: string, options: JoinOptions): Promise<Joined> {
  const args = ['-role', options.goRole, ...(options.args ?? [])];
  let socket: Socket;
  const sweeper = new Sweeper<MuxSession>(250);
  const budget = new WindowBudget(256 << 20);
  const run = (more: string[]) => spawn(path, [...args, ...more], { stdio: ['pipe', 'pipe', 'inherit'] });
  let child: ReturnType<typeof run>;
  let lines: AsyncIterator<string>;
  const line = async (): Promise<string> => (await lines.next()).value ?? 'nothing more';
  if (options.goRole === 'server') {
    child = run([]);
    lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const port = Number((await line()).split(' ')[1]);
    socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
  } else {
    const listener = createServer({ allowHalfOpen: true, noDelay: true });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    child = run(['-addr', `127.0.0.1:${(listener.address() as AddressInfo).port}`]);
    lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    [socket] = (await once(listener, 'connection')) as [Socket];
    listener.close();
  }
  const { promise: ended, resolve } = Promise.withResolvers<MuxError>();
  const session = attachSession(
    socket,
    {
      onStream: options.onStream ?? ((stream) => stream.reset()),
      onClose: (_session, error) => resolve(error),
      onFault: (_stream, error) => {
        throw error;
      },
    },
    { role: options.goRole === 'server' ? 'client' : 'server', slabs: new SlabPool(), budget, sweeper, ...options },
  );
  const exited = once(child, 'exit');
  return {
    session,
    sweeper,
    budget,
    ended,
    line,
    ask: (order) => {
      child.stdin.write(`${order}\n`);
      return line();
    },
    stop: async () => {
      session.destroy();
      child.stdin.end();
      child.kill('SIGKILL');
      await exited;
      sweeper.close();
    },
  };
}
