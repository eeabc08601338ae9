/**
 * What the keys of live sessions may still spend, and which are over their cap. A grant says what was stored; what this node
 * meters is added here. Made by gateway.ts, fed by registry.ts; each serving (serving.ts) has the payer of its session's token.
 * At the cap new requests are refused, and the next sweep cuts the open ones: docs/decisions/0009-budgets-and-metering.md.
 */
import { type Budget, costOf, isExhausted, monthOf, type Prices } from '../../plane/spend.ts';
import type { Payer } from '../routing/entry.ts';

/** An account outlasts its last session by this, longer than a handshake may take: a grant asked for before the last report is out of date. */
const REST_MS = 30_000;
/** Tokens without a session that are remembered; the oldest is forgotten first: what was stored is known again when it comes back. */
const MAX_RESTING = 10_000;

interface BudgetsDeps {
  readonly prices: Prices;
  /** Milliseconds since the epoch: the month is a matter of the wall clock. */
  readonly now: () => number;
  /** All that was metered is stored: the next grant holds it. */
  readonly isReported: () => boolean;
}

export class Budgets {
  readonly #deps: BudgetsDeps;
  readonly #accounts = new Map<string, Account>();
  readonly #payers = new Map<string, TokenPayer>();
  /** Payers without a session, oldest first, and when their last one left. */
  readonly #resting = new Map<TokenPayer, number>();

  constructor(deps: BudgetsDeps) {
    this.#deps = deps;
  }

  /** Accounts in memory. */
  get size(): number {
    return this.#accounts.size;
  }

  /** A session of the token came, with the budgets of its grant. Each call is undone by one of `leave`. */
  enter(tokenId: string, budgets: readonly Budget[]): void {
    let payer = this.#payers.get(tokenId);
    if (payer === undefined) this.#payers.set(tokenId, (payer = new TokenPayer(tokenId, this.#deps.prices)));
    this.#resting.delete(payer);
    payer.sessions++;
    for (const budget of budgets) {
      let account = this.#accounts.get(budget.accountId);
      if (account === undefined) this.#accounts.set(budget.accountId, (account = new Account(budget)));
      else account.merge(budget);
      payer.join(account);
    }
  }

  /** A session of the token is over, and what it served is settled. */
  leave(tokenId: string): void {
    const payer = this.#payers.get(tokenId);
    if (payer === undefined || --payer.sessions > 0) return;
    this.#resting.set(payer, this.#deps.now());
    if (this.#resting.size <= MAX_RESTING) return;
    for (const oldest of this.#resting.keys()) {
      this.#forget(oldest);
      break;
    }
  }

  /** Who pays for what sessions of the token serve. The token must have a session. What a serving carries ends with its session, so that its payer is never forgotten before. */
  payerOf(tokenId: string): Payer {
    const payer = this.#payers.get(tokenId);
    if (payer === undefined) throw new Error(`token ${tokenId} has no session`);
    return payer;
  }

  /** A cap was set, raised or taken off. Of an account without sessions nothing is noted: its next grant says it. */
  change(budget: Budget): void {
    this.#accounts.get(budget.accountId)?.merge(budget);
  }

  /** Begins a new month where one has begun, and forgets who has left. Call every second or so. */
  sweep(): void {
    const now = this.#deps.now();
    const month = monthOf(now);
    for (const account of this.#accounts.values()) account.turnTo(month);
    if (this.#resting.size === 0 || !this.#deps.isReported()) return;
    for (const [payer, since] of this.#resting) if (since <= now - REST_MS) this.#forget(payer);
  }

  #forget(payer: TokenPayer): void {
    this.#resting.delete(payer);
    this.#payers.delete(payer.tokenId);
    for (const account of payer.leaveAll()) this.#accounts.delete(account.id);
  }
}

/** One token on this node. */
class TokenPayer implements Payer {
  readonly tokenId: string;
  exhausted = false;
  sessions = 0;
  readonly #prices: Prices;
  readonly #accounts = new Set<Account>();

  constructor(tokenId: string, prices: Prices) {
    this.tokenId = tokenId;
    this.#prices = prices;
  }

  charge(bytes: number, requests: number): void {
    const cents = costOf({ bytes, requests }, this.#prices);
    for (const account of this.#accounts) account.spend(cents);
  }

  join(account: Account): void {
    this.#accounts.add(account);
    account.payers.add(this);
    this.judge();
  }

  /** Leaves its accounts; returns those that are now empty. */
  leaveAll(): Account[] {
    for (const account of this.#accounts) account.payers.delete(this);
    return [...this.#accounts].filter((account) => account.payers.size === 0);
  }

  judge(): void {
    this.exhausted = false;
    for (const account of this.#accounts) if (account.exhausted) this.exhausted = true;
  }
}

interface MonthSum {
  /** UTC, `2026-11`. */
  readonly month: string;
  spentCents: number;
}

/** What a lineage of keys has spent in a month, as far as this node knows. */
class Account {
  readonly id: string;
  readonly payers = new Set<TokenPayer>();
  exhausted: boolean;
  #present: MonthSum;
  /** The month before a turn: a clock that had jumped ahead, or a grant that was late, turns back to what was known. */
  #other: MonthSum | null = null;
  #capCents: number | null;

  constructor({ accountId, month, spentCents, capCents }: Budget) {
    this.id = accountId;
    this.#present = { month, spentCents };
    this.#capCents = capCents;
    this.exhausted = isExhausted({ spentCents, capCents });
  }

  /**
   * What the control plane says now. It knows the cap and the month; of the spend it may know less than this node, whose last report is
   * under way.
   */
  merge({ month, spentCents, capCents }: Budget): void {
    this.#capCents = capCents;
    this.#turn(month);
    this.#present.spentCents = Math.max(this.#present.spentCents, spentCents);
    this.#judge();
  }

  spend(cents: number): void {
    this.#present.spentCents += cents;
    this.#judge();
  }

  /** By the clock of this node. One that was set back begins no month again: it finds the last one as it was, or stays in the present one. */
  turnTo(month: string): void {
    if (month === this.#present.month || (month < this.#present.month && month !== this.#other?.month)) return;
    this.#turn(month);
    this.#judge();
  }

  #turn(month: string): void {
    if (month === this.#present.month) return;
    const next = month === this.#other?.month ? this.#other : { month, spentCents: 0 };
    this.#other = this.#present;
    this.#present = next;
  }

  #judge(): void {
    const exhausted = isExhausted({ spentCents: this.#present.spentCents, capCents: this.#capCents });
    if (exhausted === this.exhausted) return;
    this.exhausted = exhausted;
    for (const payer of this.payers) payer.judge();
  }
}
