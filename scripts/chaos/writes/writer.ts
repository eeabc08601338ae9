/** Clients that write without a pause, of one kind of thing each, and enter into its ledger what was acknowledged. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Account, ApiAnswer } from '../../../test/harness/account.ts';
import type { Ledger } from './ledger.ts';

const IDLE_MS = 20;
/** Of what can be renamed, so many changes in a row are names before one is a deletion. */
const RENAMES = 4;

export class Writer {
  readonly #ledger: Ledger;
  /** The server's limit for a day is reached. */
  #mayCreate = true;
  #renames = 0;
  /** Requests without a response that acknowledges or refuses. */
  unanswered = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Writes until `signal` says stop; resolves when the last request is over. */
  async run(account: Account, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#mayCreate && this.#ledger.size < this.#ledger.kind.most) await this.#create(account);
      else await this.#change(account);
    }
  }

  async #create(account: Account): Promise<void> {
    const { kind } = this.#ledger;
    const answer = await this.#call(account, 'POST', kind.path, kind.body(randomBytes(5).toString('hex')));
    if (answer?.status === 201 || answer?.status === 200) this.#ledger.created(String(answer.body[kind.id]));
    else if (answer?.status === 429) this.#mayCreate = false;
    else if (answer !== undefined) await pause(IDLE_MS);
  }

  async #change(account: Account): Promise<void> {
    const { kind } = this.#ledger;
    const id = this.#ledger.take();
    if (id === undefined) return pause(IDLE_MS);
    const path = `${kind.path}/${id}`;
    if (kind.canRename && this.#renames++ % (RENAMES + 1) < RENAMES) {
      const name = randomBytes(5).toString('hex');
      const answer = await this.#call(account, 'PATCH', path, { name });
      if (answer?.status === 200) this.#ledger.renamed(id, name);
      return;
    }
    const answer = await this.#call(account, 'DELETE', path);
    if (answer?.status === 200) this.#ledger.deleted(id);
  }

  /** Undefined: no response, or one that leaves open what has become of the write. */
  async #call(account: Account, method: string, path: string, body?: object): Promise<ApiAnswer | undefined> {
    let answer: ApiAnswer | undefined;
    try {
      answer = await account.call(method, path, body);
    } catch {
      // The server was killed: that is what this run does.
    }
    if (answer !== undefined && answer.status < 500) {
      if (answer.status < 300 || answer.status === 409 || answer.status === 429) return answer;
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    }
    this.unanswered++;
    await pause(IDLE_MS);
    return undefined;
  }
}
