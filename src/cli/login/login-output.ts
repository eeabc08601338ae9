/**
 * What `culvert login` says: on a terminal with a line that counts down, elsewhere as plain lines on standard error, with `--json` as objects
 * on standard output.
 */
import { createLogUpdate } from 'log-update';
import type { Login } from '../../config/credentials.ts';
import type { LeftLogin } from '../client/end-login.ts';
import { canDraw, hasColor, type Io, writeLine } from '../terminal/io.ts';
import { jsonText, type Line, paint, span } from '../terminal/paint.ts';

export interface LoginOutput {
  /** Where to go, and what to compare there. `until`: milliseconds since the epoch. */
  started(at: { server: string; url: string; phrase: string; until: number; warning: string | undefined }): void;
  /** Something is in the way; it goes on by itself. Undefined when it is over. */
  trouble(cause: string | undefined): void;
  done(at: { server: string; login: Login; file: string; next: string }): void;
  /** Something of the login before this one goes on. */
  left(at: { server: string; left: LeftLogin }): void;
  /** Takes the live line away. Called in any case. */
  end(): void;
}

export class LoginJson implements LoginOutput {
  readonly #io: Io;

  constructor(io: Io) {
    this.#io = io;
  }

  started({ server, url, phrase, until }: Parameters<LoginOutput['started']>[0]): void {
    this.#say('login_started', { server, url, check_phrase: phrase, expires_at: new Date(until).toISOString() });
  }

  trouble(cause: string | undefined): void {
    if (cause !== undefined) this.#say('login_retrying', { cause });
  }

  done({ server, login, file }: Parameters<LoginOutput['done']>[0]): void {
    const { account, organization, label, expires_at } = login;
    this.#say('logged_in', { server, account, organization, label, expires_at, file });
  }

  left({ server, left }: Parameters<LoginOutput['left']>[0]): void {
    const { label, expires_at } = left.login;
    const cause = left.problem ?? 'agents on this machine use it';
    this.#say('key_left', { server, label, expires_at, agents: left.agents, cause });
  }

  end(): void {}

  #say(event: string, fields: object): void {
    writeLine(this.#io.stdout, jsonText({ event, at: new Date().toISOString(), ...fields }));
  }
}

export class LoginText implements LoginOutput {
  readonly #io: Io;
  readonly #live: ReturnType<typeof createLogUpdate> | undefined;
  #tick: NodeJS.Timeout | undefined;
  #until = 0;
  #trouble: string | undefined;

  constructor(io: Io) {
    this.#io = io;
    this.#live = canDraw(io.stderr, io.env) ? createLogUpdate(io.stderr, { showCursor: true }) : undefined;
  }

  started({ server, url, phrase, until, warning }: Parameters<LoginOutput['started']>[0]): void {
    this.#until = until;
    this.#say([span('Log in at '), span(server, 'bold')]);
    if (warning !== undefined) this.#say([span(warning, 'yellow')]);
    this.#say([span('Open this link, and approve the login if the page shows the same three words:')]);
    this.#say([]);
    this.#say([span('  '), span(url, 'cyan')]);
    this.#say([span('  '), span(phrase, 'bold')]);
    this.#say([]);
    if (this.#live === undefined) return this.#say([span('Waiting for your approval.')]);
    this.#tick = setInterval(() => this.#draw(), 1_000);
    this.#draw();
  }

  trouble(cause: string | undefined): void {
    if (cause === this.#trouble) return;
    this.#trouble = cause;
    if (this.#live !== undefined) this.#draw();
    else if (cause !== undefined) this.#say([span(`${cause}; retrying`, 'yellow')]);
  }

  done({ server, login, file, next }: Parameters<LoginOutput['done']>[0]): void {
    this.end();
    const { account, organization, expires_at } = login;
    const until = expires_at.slice(0, 10);
    this.#say([
      span(`Logged in at ${server} as `, 'green'),
      span(account, 'bold'),
      span(`, organization ${organization}.`),
    ]);
    this.#say([span(`The access key is in ${file} and expires on ${until}. To revoke it: culvert logout`)]);
    this.#say([span('Next: '), span(next, 'bold')]);
  }

  left({ server, left }: Parameters<LoginOutput['left']>[0]): void {
    const { label, expires_at } = left.login;
    const first =
      left.agents.length === 0 ? '' : ` restart the agents that use it (pid ${left.agents.join(', ')}), then`;
    if (left.problem !== undefined) this.#say([span(left.problem, 'yellow')]);
    this.#say([
      span(`The key of your previous login, ${label}, is valid until ${expires_at.slice(0, 10)}:`, 'yellow'),
      span(`${first} revoke it: culvert tokens revoke ${label} --server ${server}`, 'yellow'),
    ]);
  }

  end(): void {
    clearInterval(this.#tick);
    this.#live?.clear();
  }

  #draw(): void {
    const left = Math.max(0, Math.ceil((this.#until - Date.now()) / 1000));
    const clock = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
    const line: Line = [
      span(`Waiting for your approval, ${clock} left`, 'dim'),
      span(this.#trouble === undefined ? '' : `  ${this.#trouble}; retrying`, 'yellow'),
    ];
    this.#live?.(paint(line, hasColor(this.#io.stderr, this.#io.env)));
  }

  #say(line: Line): void {
    writeLine(this.#io.stderr, paint(line, hasColor(this.#io.stderr, this.#io.env)));
  }
}
