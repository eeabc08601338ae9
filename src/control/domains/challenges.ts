/**
 * Asks the DNS whether a domain says what was asked of it. Each lookup may take seconds of another's slow server, so they are bounded:
 * beyond the bound the caller hears that it must wait.
 */
import { AppError } from '../../base/errors.ts';
import type { TxtRecords } from '../providers/dns.ts';
import { challengeName } from './names.ts';
import type { DomainRow } from './rows.ts';

/** Lookups under way for one organization, and for all: one can't keep the others from theirs. */
const MAX_PER_ORG = 5;
const MAX_UNDER_WAY = 100;

export class DomainChallenges {
  readonly #records: TxtRecords;
  /** Organization to its lookups under way. */
  readonly #underWay = new Map<string, number>();
  #total = 0;

  constructor(records: TxtRecords) {
    this.#records = records;
  }

  /** What the record of the domain says now. Throws `rate_limited` at the bound, `unavailable` when the DNS does not answer. */
  async ask({ orgId, domain }: DomainRow): Promise<readonly string[]> {
    const mine = this.#underWay.get(orgId) ?? 0;
    if (mine >= MAX_PER_ORG || this.#total >= MAX_UNDER_WAY) {
      throw new AppError('rate_limited', 'Too many domains are being verified. Try again in a few seconds.', {
        retryAfterSeconds: 5,
      });
    }
    this.#underWay.set(orgId, mine + 1);
    this.#total++;
    try {
      return await this.#records.lookUp(challengeName(domain));
    } finally {
      const left = (this.#underWay.get(orgId) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(orgId);
      else this.#underWay.set(orgId, left);
      this.#total--;
    }
  }
}
