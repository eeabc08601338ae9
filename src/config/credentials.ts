/**
 * What `culvert login` keeps: per server the key of this command line and the session of the person who approved it. One JSON file beside the
 * user's agent.toml, 0600, replaced whole, by one process at a time. Read again at each use, so that another log-in counts at once.
 */
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeDurably } from '../base/process/durable-file.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import { Secret } from '../base/secret.ts';
import { type LockTimes, withFileLock } from './file-lock.ts';
import { ConfigError } from './toml.ts';

/** Read or write for users other than the owner. */
const OTHERS = 0o077;
/** A change takes milliseconds; a thousand commands at once are through long before the 30 s. */
const CHANGE: LockTimes = { abandonedMs: 5_000, patienceMs: 30_000 };
/** Who uses a session asks the server meanwhile, for at most `SESSION_WORK_MS`. */
const SESSION = { abandonedMs: 25_000, patienceMs: 60_000 };
/** How long work that has the sessions to itself may take, in milliseconds. */
export const SESSION_WORK_MS = 20_000;

const secret = z
  .string()
  .min(1)
  .transform((text) => new Secret(text));
const login = z.object({
  /** Name of the key in `GET /tokens`. */
  label: z.string(),
  /** The key: base64 of its wire form. */
  wire_bytes_b64: secret,
  /** Value of the refresh cookie; a new one after each use. */
  refresh_token: secret,
  /** E-mail address of the person. */
  account: z.string(),
  organization: z.string(),
  /** When the key ends, RFC 3339. */
  expires_at: z.iso.datetime(),
});
const file = z.object({ version: z.literal(1), logins: z.record(z.string(), login) });

export type Login = z.output<typeof login>;

/** The folder of the user's own settings. */
export function userFolder(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'culvert');
}

/** How a server is named in the file: its URL without a slash at the end. */
export function serverName(server: URL): string {
  return server.origin + server.pathname.replace(/\/+$/, '');
}

export class Credentials {
  readonly path: string;
  readonly #changeTimes: LockTimes;

  /** `changeTimes`: how long a change of the file may take, and wait for others. */
  constructor(env: NodeJS.ProcessEnv, changeTimes: LockTimes = CHANGE) {
    this.#changeTimes = changeTimes;
    this.path = join(userFolder(env), 'credentials.json');
  }

  /** The log-in at exactly this server. @throws ConfigError when the file can't be used. */
  of(server: URL): Login | undefined {
    return this.#read().get(serverName(server));
  }

  /** The servers with a log-in, as URLs. @throws ConfigError */
  servers(): string[] {
    return [...this.#read().keys()];
  }

  /** Rewrites the file unchanged: a fault shows before a new key is issued. @throws ConfigError */
  async probe(): Promise<void> {
    await this.#change(() => undefined);
  }

  /** Keeps a log-in, and returns the one at the same server whose place it took. @throws ConfigError */
  store(server: URL, kept: Login): Promise<Login | undefined> {
    const name = serverName(server);
    return this.#change((logins) => {
      const replaced = logins.get(name);
      logins.set(name, kept);
      return replaced;
    });
  }

  /**
   * Keeps the session's new refresh token in the log-in, unless another log-in has taken its place meanwhile: then there is nothing to keep.
   * @throws ConfigError
   */
  async renew(server: URL, login: Login, refreshToken: Secret): Promise<void> {
    const name = serverName(server);
    await this.#change((logins) => {
      if (isSame(logins.get(name), login)) logins.set(name, { ...login, refresh_token: refreshToken });
    });
  }

  /**
   * Does work that shows the server a session while no other command does: a refresh token that is shown twice counts as stolen, and ends the
   * session. The work ends within `SESSION_WORK_MS`. @throws Error when the lock can't be made, or is not to be had in a minute.
   */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(`${this.path}.session.lock`, SESSION, work);
  }

  /** Forgets this log-in, and not one that took its place; the file goes with the last one. @throws ConfigError */
  async remove(server: URL, login: Login): Promise<void> {
    const name = serverName(server);
    await this.#change((logins) => {
      if (isSame(logins.get(name), login)) logins.delete(name);
    });
  }

  /** Reads, edits and replaces the file while no other process does: of two log-ins at the same instant both are kept. */
  async #change<T>(edit: (logins: Map<string, Login>) => T): Promise<T> {
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
      return await withFileLock(`${this.path}.lock`, this.#changeTimes, () => {
        const logins = this.#read();
        const result = edit(logins);
        this.#write(logins);
        if (logins.size === 0) rmSync(this.path, { force: true });
        return result;
      });
    } catch (cause) {
      if (cause instanceof ConfigError) throw cause;
      throw new ConfigError(`${this.path}: cannot be written: ${messageOf(cause)}`, { cause });
    }
  }

  #read(): Map<string, Login> {
    try {
      const text = readFileSync(this.path, 'utf8');
      if (process.platform !== 'win32' && (statSync(this.path).mode & OTHERS) !== 0) {
        throw new ConfigError(`${this.path}: other users of this machine can read your keys: chmod 600 ${this.path}`);
      }
      return new Map(Object.entries(file.parse(JSON.parse(text)).logins));
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return new Map();
      if (cause instanceof ConfigError) throw cause;
      // Neither parser may quote what it stumbled over: that could be a key.
      const why = codeOf(cause) === undefined ? 'was not written by culvert login' : messageOf(cause);
      throw new ConfigError(`${this.path}: cannot be read: ${why}; remove it and run culvert login`);
    }
  }

  #write(logins: ReadonlyMap<string, Login>): void {
    const opened = [...logins].map(([server, kept]): [string, z.input<typeof login>] => {
      const { wire_bytes_b64, refresh_token } = kept;
      return [server, { ...kept, wire_bytes_b64: wire_bytes_b64.reveal(), refresh_token: refresh_token.reveal() }];
    });
    const text = JSON.stringify({ version: 1, logins: Object.fromEntries(opened) }, undefined, 2);
    writeDurably(this.path, `${text}\n`, { replaces: true });
  }
}

/** The same log-in, whatever its session's token is by now. */
function isSame(one: Login | undefined, other: Login): boolean {
  return one?.wire_bytes_b64.reveal() === other.wire_bytes_b64.reveal();
}
