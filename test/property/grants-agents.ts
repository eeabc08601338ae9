/**
 * The agents of one run of the property: which token each has shown, what it was answered, and whether it may have been cut off for a
 * reason of its own.
 */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { TestAgent } from '../../src/data/fixtures/agent.ts';
import type { FromServer } from '../../src/wire/messages.ts';
import type { ModelToken } from './grants-model.ts';

/** An answer that takes longer is a fault. */
const PATIENCE_MS = 10_000;

export interface Claimed {
  readonly name: string;
  readonly project: string | undefined;
}

export class ModelAgent {
  readonly token: ModelToken;
  readonly #wire: TestAgent;
  #isClosed = false;
  /** It left, or something else than its token ended it: nothing is expected of it any more. */
  excused = false;

  constructor(wire: TestAgent, token: ModelToken) {
    this.#wire = wire;
    this.token = token;
    void wire.closed.then(() => (this.#isClosed = true));
  }

  /** Its session at the server; undefined until it is welcome. */
  get sessionId(): string | undefined {
    return this.#heard('welcome')?.agentId;
  }

  /** Shows the key. Resolves once the server has let it in, or ended it. */
  async show(): Promise<'welcome' | 'bye'> {
    this.#wire.hello(this.token.apiKey);
    await this.#until(() => this.#heard('welcome') !== undefined || this.#heard('bye') !== undefined);
    return this.#heard('welcome') === undefined ? 'bye' : 'welcome';
  }

  /** Resolves to the answer, or undefined when the session ended first. */
  async claim({ name, project }: Claimed): Promise<FromServer | undefined> {
    const ref = this.#wire.claim(name, project === undefined ? {} : { project });
    const answer = (): FromServer | undefined =>
      this.#wire.heard.find((one) => (one.type === 'bound' || one.type === 'refused') && one.ref === ref);
    await this.#until(() => answer() !== undefined || this.#heard('bye') !== undefined);
    return answer();
  }

  /** Whether the answer repeats an earlier one: the same claim for a tunnel that the session serves already, which grants nothing new. */
  isRepeated({ ref, slot }: Extract<FromServer, { type: 'bound' }>): boolean {
    const ofSlot = this.#wire.heard.filter((one) => 'slot' in one && one.slot === slot);
    const before = ofSlot.at(ofSlot.findIndex((one) => one.type === 'bound' && one.ref === ref) - 1);
    return ofSlot.length > 1 && before?.type === 'bound' && before.ref !== ref;
  }

  leave(): void {
    this.excused = true;
    this.#wire.destroy();
  }

  #heard<T extends FromServer['type']>(type: T): Extract<FromServer, { type: T }> | undefined {
    return this.#wire.heard.find((one): one is Extract<FromServer, { type: T }> => one.type === type);
  }

  async #until(what: () => boolean): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!what() && !this.#isClosed) {
      assert.ok(performance.now() < end, `no answer from the gateway: ${JSON.stringify(this.#wire.heard)}`);
      await turn();
    }
  }
}
