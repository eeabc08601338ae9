/** The login that is kept for a server, or why it can't be read, for commands that have more to say than that. */
import type { Credentials, Login } from '../../config/credentials.ts';
import { ConfigError } from '../../config/toml.ts';
import { harmless } from '../terminal/paint.ts';

export interface KeptLogin {
  /** Undefined when there is none, or the file can't be read. */
  readonly login: Login | undefined;
  /** What is wrong with the file. */
  readonly mistake: string | undefined;
}

export function keptLogin(credentials: Credentials, server: URL): KeptLogin {
  try {
    return { login: credentials.of(server), mistake: undefined };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { login: undefined, mistake: harmless(error.message) };
  }
}
