/**
 * Who a visitor is by the pass that its browser shows, for all gates of a node; and what becomes of tickets. Made by data/node-parts.ts, asked by
 * step.ts and paths.ts. It knows no lists: the control plane decides when it makes a ticket, and each change of a list is
 * another version.
 */
import type { Clock } from '../../../base/clock.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import {
  openPass,
  openTicket,
  isWord,
  nonceHashOf,
  PASS_MS,
  sealPass,
  type VisitorPass,
  type VisitorTicket,
} from '../../../plane/visitor-tokens.ts';
import { newRandom } from './cookies.ts';
import { RecentReturns } from './recent-returns.ts';
import { UsedTickets } from './used-tickets.ts';

/** Good passes that are remembered, so that each is computed once; the one that was not shown for longest gives way. */
const MAX_KNOWN = 10_000;
/**
 * Passes of one request that are looked at, a HMAC each; 0.5 ms for all. What only bears the name costs nothing, and a head of the usual size
 * holds fewer, so that planted ones can't hide the good one.
 */
const MAX_LOOKED_AT = 256;

/** What a pass must be for. */
export type Place = Pick<VisitorPass, 'tunnelId' | 'version' | 'host'>;

export interface KnownVisitor extends VisitorPass {
  /** The identity header, with its CR LF. */
  readonly line: Buffer;
}

/** What comes beside the passes of a request. */
export interface ShownBy {
  /** Of BROWSER_COOKIE. */
  readonly browsers: readonly string[];
  /** A browser says that it sends this. It has what came with its pass; a program may carry a copy of the pass alone. */
  readonly isBrowser: boolean;
}

/** What a browser gets for a ticket: values of PASS_COOKIE and BROWSER_COOKIE. */
export interface Exchanged {
  readonly pass: string;
  readonly browser: string;
}

export class VisitorPasses {
  readonly #clock: Clock;
  #key: Buffer | null = null;
  #keyText = '';
  readonly #known = new RecentMap<string, KnownVisitor>({ max: MAX_KNOWN });
  readonly #tickets = new UsedTickets();
  readonly #returns = new RecentReturns();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Signs from now on; what another one signed is good no more. */
  useKey(key: string): void {
    if (key === this.#keyText) return;
    this.#keyText = key;
    this.#key = Buffer.from(key, 'base64url');
    this.#known.clear();
    this.#returns.clear();
  }

  /**
   * The visitor by the good ones of these words; null: there is none. One that was made for this very browser goes before all others, and
   * others count for no browser: neighbours can plant their own, and over https not what it counts beside. `several`: what is left names different people.
   */
  find(words: readonly string[], place: Place, by: ShownBy): KnownVisitor | null | 'several' {
    const good = this.#goodOnes(words, place);
    if (good.length === 0) return null;
    const hashes = new Set(by.browsers.map(nonceHashOf));
    const own = good.filter(({ browserHash }) => hashes.has(browserHash));
    const counting = own.length > 0 || by.isBrowser ? own : good;
    const [first] = counting;
    if (first === undefined) return null;
    return counting.every(({ email }) => email === first.email) ? first : 'several';
  }

  #goodOnes(words: readonly string[], place: Place): readonly KnownVisitor[] {
    const good: KnownVisitor[] = [];
    let looked = 0;
    for (const word of words) {
      if (!isWord(word)) continue;
      if (++looked > MAX_LOOKED_AT) break;
      const visitor = this.#open(word);
      if (visitor === null || !isFor(visitor, place) || visitor.expiresAt <= this.#clock.now()) continue;
      good.push(visitor);
    }
    return good;
  }

  /** The ticket, when it is for here and has not run out. */
  ticket(word: string, place: Place): VisitorTicket | null {
    const ticket = this.#key === null ? undefined : openTicket(this.#key, word);
    return ticket !== undefined && isFor(ticket, place) && ticket.expiresAt > this.#clock.now() ? ticket : null;
  }

  /**
   * Turns the ticket into a pass, for the browser with this nonce, and what it counts beside. Each is good once. Throws without a key.
   */
  exchange(ticket: VisitorTicket, nonce: string): Exchanged | 'used' | 'full' {
    if (this.#key === null) throw new Error('the key for visitor login has not arrived yet');
    const now = this.#clock.now();
    const taken = this.#tickets.take(ticket.id, ticket.expiresAt, now);
    if (taken !== 'taken') return taken;
    const { tunnelId, version, host, email } = ticket;
    this.#returns.add(ticket, nonce, now);
    const browser = newRandom();
    const bound = { tunnelId, version, host, email, expiresAt: now + PASS_MS };
    return { pass: sealPass(this.#key, { ...bound, browserHash: nonceHashOf(browser) }), browser };
  }

  /** Has a browser with one of these nonces got its pass only just now? If it shows none all the same, to sign in once more helps nothing. */
  haveJustReturned(nonces: readonly string[], place: Place): boolean {
    const now = this.#clock.now();
    return nonces.some((nonce) => this.#returns.has(place, nonce, now));
  }

  #open(word: string): KnownVisitor | null {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const pass = this.#key === null ? undefined : openPass(this.#key, word);
    if (pass === undefined) return null;
    const visitor = { ...pass, line: Buffer.from(`Culvert-Visitor-Email: ${pass.email}\r\n`, 'latin1') };
    this.#known.set(word, visitor);
    return visitor;
  }
}

function isFor(one: Place, { tunnelId, version, host }: Place): boolean {
  return one.tunnelId === tunnelId && one.version === version && one.host === host;
}
