/**
 * Master keys: they mint keys for projects (project-keys.ts) and do nothing else. They open no tunnels: their signed quota is 0, and
 * tunnels/claims/service.ts refuses the kind. Minted by admins, where the plan has them.
 */
import { DAY_MS } from '../../../base/clock.ts';
import type { Store } from '../../db/tx.ts';
import type { Actor, MasterKeyActor } from '../../core/rules/actor.ts';
import type { MasterRights } from './rights.ts';
import { checkMasters, checkMint } from '../limits/mint-limits.ts';
import { personAs } from '../minter.ts';
import { recordMint } from '../audit.ts';
import type { MintedToken, TokenMaker } from '../maker.ts';
import type { Tokens } from '../service.ts';

export const MAX_MASTER_DAYS = 365;

export interface MasterKeyInput {
  readonly name: string;
  /** 1..365. */
  readonly ttlDays: number;
  /** Also holds for what its keys spend. */
  readonly monthlyBudgetUsdCents?: number | null | undefined;
}

export interface MasterKeyDeps {
  readonly store: Store;
  readonly maker: TokenMaker;
  readonly tokens: Pick<Tokens, 'recognise' | 'touch'>;
  readonly rights: MasterRights;
}

export class MasterKeys {
  readonly #deps: MasterKeyDeps;

  constructor(deps: MasterKeyDeps) {
    this.#deps = deps;
  }

  /** A new master key. Throws `forbidden`, `upgrade_required`, `conflict`, `rate_limited`. */
  mint(actor: Actor, input: MasterKeyInput): MintedToken {
    const { store, maker, rights } = this.#deps;
    return store.inTx((tx) => {
      const minter = personAs(actor, 'master_key');
      rights.requirePlan(tx.db, minter.actor.orgId);
      checkMint(tx, minter);
      checkMasters(tx, minter.actor.userId);
      const minted = maker.makeIn(tx, {
        orgId: minter.actor.orgId,
        createdBy: minter.createdBy,
        kind: 'master',
        name: input.name,
        project: null,
        parent: null,
        lineageId: null,
        allowedSubdomains: [],
        tunnelQuota: 0,
        bandwidthLimitMbps: 0,
        monthlyBudgetUsdCents: input.monthlyBudgetUsdCents ?? null,
        expiresAt: tx.now + input.ttlDays * DAY_MS,
      });
      recordMint(tx, minter.actor, minted);
      return minted;
    });
  }

  /**
   * Who presents this text key or base64 wire form as a bearer; undefined when it is no token of this server. Throws `unauthorized` for one
   * that is no live master key, and where it would mint `forbidden` and `upgrade_required` as its organization stands.
   */
  authenticate(
    presented: string,
    { ipAddress, mints }: { ipAddress: string; mints: boolean },
  ): MasterKeyActor | undefined {
    const { store, tokens, rights } = this.#deps;
    const found = tokens.recognise(presented);
    if (found === undefined) return undefined;
    const now = store.clock.now();
    const { id, name, orgId } = mints ? rights.checkMint(store.db, found, now) : rights.checkLive(store.db, found, now);
    tokens.touch(found, ipAddress);
    return { kind: 'master_key', tokenId: id, name, orgId, ipAddress };
  }
}
