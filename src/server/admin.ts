/**
 * How `culvert admin` reaches the operators' routes. While a server runs on the data folder they are asked over the folder's socket,
 * with a token that the folder's key file signs; no command opens its database. Without a server the same routes run in this process, which
 * holds the lock.
 */
import { statSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { API_ERRORS, type ErrorCode } from '../base/codes/api-errors.ts';
import { AppError, codeOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { Settings } from '../config/schema.ts';
import type { ApiEnv } from '../control/core/http/context.ts';
import { lockDataDir } from '../control/db/open.ts';
import { OperatorTokens } from '../control/operator/admin-tokens.ts';
import { openSealer, SEAL_KEY_FILE } from '../control/core/secrets/sealing.ts';
import { askSocket, type Question, type SocketAnswer } from './admin-client.ts';
import { requireDataFolder } from './data-folder.ts';

export interface Operator {
  /** The JSON of the answer. Throws AppError with the server's own code and message when it refuses. */
  call(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<unknown>;
  /** An answer that is no JSON, likewise. */
  read(path: string): Promise<string>;
  close(): void;
}

export interface OperatorOptions {
  readonly version: string;
  readonly log: Logger;
  /** How the command is typed, for the message to a wrong user. */
  readonly command: string;
  /** Who types it, for the trail; default the user of this process. */
  readonly user?: string;
}

/** Throws with what to do when the folder is not there, is another user's, or its server does not answer. */
export async function openOperator(settings: Settings, options: OperatorOptions): Promise<Operator> {
  if (isRootElsewhere(settings.data_dir)) {
    // Beside a server no file is made, so root may ask, too.
    const running = await findRunning(settings.data_dir, options.user);
    if (running !== undefined) return running;
  }
  requireDataFolder(settings.data_dir, options.command);
  const unlock = tryLock(settings.data_dir);
  return unlock === undefined
    ? besideServer(settings.data_dir, options.user)
    : withoutServer(settings, options, unlock);
}

/** Root, and the folder is another user's. */
function isRootElsewhere(dataDir: string): boolean {
  const owner = statSync(dataDir, { throwIfNoEntry: false })?.uid ?? 0;
  return process.getuid?.() === 0 && owner !== 0;
}

/**
 * The server that runs on the folder, for any user who may read its key (root, too): `setup` and `doctor` ask it and make nothing. Undefined when
 * none has got as far as its socket. Throws when it does not answer, or this user may not ask.
 */
export async function findRunning(dataDir: string, user?: string): Promise<Operator | undefined> {
  // Throws for a user who may not look into the folder: a server may run on it all the same.
  if (statSync(join(dataDir, SEAL_KEY_FILE), { throwIfNoEntry: false }) === undefined) return undefined;
  const operator = besideServer(dataDir, user);
  try {
    await operator.call('GET', '/superadmin/health');
    return operator;
  } catch (error) {
    const isAway = error instanceof Error && ['ENOENT', 'ECONNREFUSED'].includes(codeOf(error.cause) ?? '');
    if (isAway || codeOf(error) === 'unavailable') return undefined;
    throw error;
  }
}

type Send = (question: Question) => Promise<SocketAnswer>;

function besideServer(dataDir: string, user: string | undefined): Operator {
  const tokens = new OperatorTokens({ sealer: openSealer(dataDir), clock: systemClock });
  const send: Send = (question) => askSocket(dataDir, question);
  return { ...caller(send, { tokens, user }), close: () => {} };
}

async function withoutServer(
  settings: Settings,
  { version, log, user }: OperatorOptions,
  unlock: () => void,
): Promise<Operator> {
  try {
    // Loaded here and not at the top: beside a server none of it is needed, and it is most of what a command waits for.
    const [{ makeApi }, { openControlPlane }] = await Promise.all([import('./api.ts'), import('./control-plane.ts')]);
    const control = openControlPlane(settings, {
      edgeTemplate: () => settings.edge.public_url,
      apiUrl: () => settings.api.public_url,
      log,
    });
    const app = makeApi(settings, {
      control,
      version,
      log,
      apiUrl: () => settings.api.public_url,
      discovery: () => undefined,
    });
    const send: Send = async ({ path, ...init }) => {
      const answer = await app.fetch(new Request(`http://localhost${path}`, init), noConnection());
      return { status: answer.status, text: await answer.text() };
    };
    return {
      ...caller(send, { tokens: control.operatorTokens, user }),
      close: () => {
        control.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** What the API sees of a request that came by no network. */
function noConnection(): ApiEnv['Bindings'] {
  const incoming = new IncomingMessage(new Socket());
  return { incoming, outgoing: new ServerResponse(incoming), isFromFolder: true };
}

/** As the operating system says. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without a name, as in a container.
    return String(process.getuid?.() ?? '');
  }
}

function caller(
  send: Send,
  { tokens, user = ownName() }: { tokens: OperatorTokens; user: string | undefined },
): Pick<Operator, 'call' | 'read'> {
  const ask = async (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<string> => {
    const { status, text } = await send({
      method,
      path,
      headers: {
        authorization: `Bearer ${await tokens.sign(user)}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (status >= 200 && status < 300) return text;
    throw asError(status, text);
  };
  return {
    call: async (method, path, body) => JSON.parse(await ask(method, path, body)) as unknown,
    read: (path) => ask('GET', path),
  };
}

function asError(status: number, text: string): Error {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown };
    if (typeof error === 'string' && error in API_ERRORS) return new AppError(error as ErrorCode, String(message));
  } catch {
    // Not an answer of ours: said below.
  }
  return new Error(`the server responded with status ${status} and no reason`);
}

/** The unlocker, or undefined when a server holds the folder. */
function tryLock(dataDir: string): (() => void) | undefined {
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof Error && codeOf(error.cause) === 'SQLITE_BUSY') return undefined;
    throw error;
  }
}
