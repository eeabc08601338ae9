/**
 * Signed requests to one authority, one after the other: the directory, nonces, and waiting until an object has been decided about
 * (RFC 8555 §6, §7.5.1). Knows no orders. Lives for one operation.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FlattenedSign } from 'jose';
import type { Clock } from '../../../base/clock.ts';
import { AcmeError } from './contract.ts';
import type { AccountKey } from './account-key.ts';
import { type Directory, readDirectory } from './answers.ts';
import { refusalOf, retryAfterMs } from './problem.ts';
import { abortError, type Reply, type Transport } from './transport.ts';

/** Nonces run out when an authority has several machines that don't share them; ten in a row are no accident. */
const NONCE_TRIES = 10;
/** base64url; it is put into a header that we sign. */
const NONCE = /^[A-Za-z0-9_-]{1,512}$/;

/** Between two looks. An authority that says otherwise by Retry-After is obeyed within these bounds: some say a day and are done in a second. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;
const LONGEST_RETRY_AFTER_MS = 30_000;

export interface PollOptions<T> {
  readonly signal: AbortSignal;
  /** What is waited for, for the message when it does not come. */
  readonly waitsFor: string;
  /** The outcome, or undefined when there is none yet. */
  readonly read: (reply: Reply) => T | undefined;
}

export class Session {
  readonly directory: Directory;
  readonly #transport: Transport;
  readonly #key: AccountKey;
  readonly #clock: Clock;
  readonly #kid: string | undefined;
  #nonce: string | undefined;

  private constructor(transport: Transport, directory: Directory, { key, kid, clock }: SessionOptions) {
    this.#transport = transport;
    this.directory = directory;
    this.#key = key;
    this.#kid = kid;
    this.#clock = clock;
  }

  /** `options.kid`: the account's URL; undefined before there is one. */
  static async open(transport: Transport, options: SessionOptions): Promise<Session> {
    const directory = await fetchDirectory(transport, options);
    return new Session(transport, directory, options);
  }

  /** The URL in `Location`. */
  locationOf(reply: Reply): string {
    return this.#transport.check(reply.headers.location, 'Location');
  }

  /** A signed request; `payload` null asks for what is there (POST-as-GET). Throws the problem that the authority answers with. */
  async post(address: string, payload: object | null, signal: AbortSignal): Promise<Reply> {
    // The authority compares what is signed with what it sees asked for (RFC 8555 §6.4).
    const url = this.#transport.check(address, 'address');
    for (let tries = 1; ; tries++) {
      const body = await this.#sign(url, payload, signal);
      const reply = await this.#transport.ask({ method: 'POST', url, body, signal });
      this.#keepNonce(reply);
      if (reply.status >= 200 && reply.status < 300) return reply;
      const refusal = refusalOf(reply, this.#clock.now());
      if (refusal.code !== 'badNonce' || tries === NONCE_TRIES) throw refusal;
    }
  }

  /** Asks until `read` gives an outcome. Throws `timeout` when the signal's time is over before. */
  async poll<T>(url: string, options: PollOptions<T>): Promise<T> {
    const { signal, waitsFor, read } = options;
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      const reply = await this.post(url, null, signal);
      const outcome = read(reply);
      if (outcome !== undefined) return outcome;
      const asked = retryAfterMs(reply.headers, this.#clock.now());
      const pause = asked === null ? wait : Math.min(Math.max(asked, FIRST_WAIT_MS), LONGEST_RETRY_AFTER_MS);
      try {
        await sleep(pause, undefined, { signal });
      } catch {
        throw abortError(signal, `the authority took too long for ${waitsFor}`);
      }
    }
  }

  async #sign(url: string, payload: object | null, signal: AbortSignal): Promise<string> {
    const nonce = this.#nonce ?? (await this.#newNonce(signal));
    this.#nonce = undefined;
    const from = this.#kid === undefined ? { jwk: this.#key.jwk } : { kid: this.#kid };
    const text = payload === null ? '' : JSON.stringify(payload);
    const jws = await new FlattenedSign(new TextEncoder().encode(text))
      .setProtectedHeader({ alg: 'ES256', nonce, url, ...from })
      .sign(this.#key.privateKey);
    return JSON.stringify(jws);
  }

  async #newNonce(signal: AbortSignal): Promise<string> {
    const { newNonce } = this.directory;
    const reply = await this.#transport.ask({ method: 'HEAD', url: newNonce, signal });
    if (reply.status >= 300) throw refusalOf(reply, this.#clock.now());
    this.#keepNonce(reply);
    if (this.#nonce === undefined) throw new AcmeError('bad_answer', `${new URL(newNonce).host} sent no nonce`);
    return this.#nonce;
  }

  #keepNonce({ headers }: Reply): void {
    const nonce = headers['replay-nonce'];
    this.#nonce = typeof nonce === 'string' && NONCE.test(nonce) ? nonce : undefined;
  }
}

export interface SessionOptions {
  readonly directoryUrl: string;
  readonly key: AccountKey;
  readonly kid: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A GET without a signature; the answer is an object or a problem. */
export async function fetchJson(
  transport: Transport,
  url: string,
  of: { clock: Clock; signal: AbortSignal },
): Promise<Reply> {
  const reply = await transport.ask({ method: 'GET', url, signal: of.signal });
  if (reply.status >= 200 && reply.status < 300) return reply;
  throw refusalOf(reply, of.clock.now());
}

export async function fetchDirectory(
  transport: Transport,
  of: { directoryUrl: string; clock: Clock; signal: AbortSignal },
): Promise<Directory> {
  return readDirectory(await fetchJson(transport, of.directoryUrl, of));
}
