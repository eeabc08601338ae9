/**
 * The keys of issuers, fetched when a token asks for them and kept, for each organization by itself: where they are is what its owners have
 * written, and places that are slow or many cost no other's policies their keys. Keys that can't be fetched are null, and the caller refuses.
 */
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { type FetchRules, fetchJson } from './key-fetch.ts';
import { type KeySet, keySetOf } from './key-set.ts';

/** Where keys are: a set at this address, or what this issuer's OpenID discovery names. */
export type KeyPlace = { readonly jwksUrl: string } | { readonly issuer: string };

/** Older keys are fetched anew before they are used. */
const FRESH_MS = 600_000;
/** While that fails, keys are good for so long after they were fetched: an issuer may be away for a while. */
const USABLE_MS = 3_600_000;
/** Between two attempts at one place, whatever tokens ask for. */
const FLOOR_MS = 30_000;
/**
 * Places that are remembered. At the bound the organization that has the most, or the one that asks where it has its share, forgets the one
 * that it has not used for the longest time.
 */
const MAX_PLACES = 1_000;
const MAX_PLACES_OF_ONE = 100;
/** Fetches at the same time, of one organization and of all together: beyond it there are no keys. */
const MAX_FETCHES = 64;
const MAX_FETCHES_OF_ONE = 4;

/** What one organization asks for. */
interface Share {
  /** By place; used longest ago first. */
  readonly sources: Map<string, Source>;
  fetches: number;
}

interface Source {
  readonly place: KeyPlace;
  keys: KeySet | null;
  fetchedMs: number;
  attemptedMs: number;
  fetching: Promise<void> | null;
}

export class KeySources {
  readonly #rules: FetchRules;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #shares = new Map<string, Share>();
  #places = 0;
  #fetches = 0;

  constructor(rules: FetchRules, deps: { readonly clock: Clock; readonly log: Logger }) {
    this.#rules = rules;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /**
   * The keys at this place for an organization, fetched if need be; null when they can't be had. `unlike`: keys in which a token's key is
   * not: they are fetched anew, unless that was tried within the last 30 s.
   */
  async keysAt(orgId: string, place: KeyPlace, unlike: KeySet | null = null): Promise<KeySet | null> {
    const { share, source } = this.#shareOf(orgId, place);
    if (source.fetching !== null) await source.fetching;
    else if (this.#isOld(source, FRESH_MS) || source.keys === unlike) await this.#refresh(share, source);
    return this.#isOld(source, USABLE_MS) ? null : source.keys;
  }

  /** The keys of this place that are kept for an organization and may still be used; null: there are none. Nothing is fetched. */
  keptAt(orgId: string, place: KeyPlace): KeySet | null {
    const source = this.#shares.get(orgId)?.sources.get(JSON.stringify(place));
    return source === undefined || this.#isOld(source, USABLE_MS) ? null : source.keys;
  }

  #isOld({ keys, fetchedMs }: Source, ms: number): boolean {
    return keys === null || this.#clock.monotonic() - fetchedMs >= ms;
  }

  #shareOf(orgId: string, place: KeyPlace): { share: Share; source: Source } {
    const name = JSON.stringify(place);
    const share = this.#shares.get(orgId) ?? { sources: new Map<string, Source>(), fetches: 0 };
    let source = share.sources.get(name);
    if (source === undefined) {
      if (share.sources.size >= MAX_PLACES_OF_ONE) this.#forgetOne(share);
      else if (this.#places >= MAX_PLACES) this.#forgetOne(this.#largest());
      source = { place, keys: null, fetchedMs: 0, attemptedMs: Number.NEGATIVE_INFINITY, fetching: null };
      this.#places++;
      this.#shares.set(orgId, share);
    }
    // To the end, as the last that was used.
    share.sources.delete(name);
    share.sources.set(name, source);
    return { share, source };
  }

  #largest(): Share {
    let largest: Share | undefined;
    for (const share of this.#shares.values())
      if (largest === undefined || share.sources.size > largest.sources.size) largest = share;
    return largest as Share;
  }

  #forgetOne(share: Share): void {
    const [oldest] = share.sources.keys();
    if (oldest === undefined) return;
    share.sources.delete(oldest);
    this.#places--;
    if (share.sources.size > 0) return;
    for (const [orgId, one] of this.#shares) if (one === share) this.#shares.delete(orgId);
  }

  async #refresh(share: Share, source: Source): Promise<void> {
    const now = this.#clock.monotonic();
    if (now - source.attemptedMs < FLOOR_MS) return;
    if (this.#fetches >= MAX_FETCHES || share.fetches >= MAX_FETCHES_OF_ONE) return;
    source.attemptedMs = now;
    this.#fetches++;
    share.fetches++;
    source.fetching = this.#fetch(source).finally(() => {
      source.fetching = null;
      this.#fetches--;
      share.fetches--;
    });
    await source.fetching;
  }

  async #fetch(source: Source): Promise<void> {
    const { place } = source;
    try {
      const url = 'issuer' in place ? await this.#discover(place.issuer) : place.jwksUrl;
      source.keys = keySetOf(await fetchJson(url, this.#rules));
      source.fetchedMs = this.#clock.monotonic();
    } catch (error) {
      this.#log.warn({ ...place, error: messageOf(error) }, 'could not fetch the keys of an issuer');
    }
  }

  /** Where the keys of an issuer are, by its own word (OpenID Connect Discovery 1.0 §4): a document that names another issuer is none. */
  async #discover(issuer: string): Promise<string> {
    const document = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, this.#rules);
    const { issuer: named, jwks_uri: url } = (document ?? {}) as { issuer?: unknown; jwks_uri?: unknown };
    if (named !== issuer || typeof url !== 'string')
      throw new Error('the discovery document belongs to another issuer');
    return url;
  }
}
