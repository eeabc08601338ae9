/**
 * Keys for one project: they open tunnels in its namespace alone. Minted, rotated and revoked by people, and by master keys, which see the
 * keys that they minted themselves and no others. What a master key minted ends with it at the latest.
 */
import { HOUR_MS } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { allow, type MasterKeyActor, type UserActor } from '../../core/rules/actor.ts';
import { findProject, type ProjectRow } from '../../projects/rows.ts';
import type { MasterRights } from './rights.ts';
import { checkMint } from '../limits/mint-limits.ts';
import { type Minter, personAs } from '../minter.ts';
import type { Rotation } from '../rotation.ts';
import { recordMint } from '../audit.ts';
import type { TokenEnds } from '../ends/service.ts';
import type { MintedToken, TokenMaker } from '../maker.ts';
import { endOf, isLive, type TokenRow, tokenById, tokenByNonce } from '../rows.ts';
import { MAX_TTL_HOURS } from '../service.ts';

/** A master key mints for a job that runs now; a person for a machine. */
const DEFAULT_HOURS = { master_key: 1, user: 24 } as const;

export interface ProjectTokenInput {
  readonly name: string;
  /** Default by who mints; cut to 2160 and to the end of the master key. */
  readonly ttlHours: number | undefined;
  readonly allowedSubdomains: readonly string[];
  readonly bandwidthLimitMbps: number;
  readonly tunnelQuota: number;
  readonly monthlyBudgetUsdCents?: number | null | undefined;
}

type Caller = UserActor | MasterKeyActor;

export interface ProjectTokenDeps {
  readonly store: Store;
  readonly maker: TokenMaker;
  readonly ends: TokenEnds;
  readonly rotation: Rotation;
  readonly masterRights: MasterRights;
}

export class ProjectTokens {
  readonly #deps: ProjectTokenDeps;

  constructor(deps: ProjectTokenDeps) {
    this.#deps = deps;
  }

  /**
   * A new key for the project. Throws `not_found`, `forbidden`, `unauthorized`, `upgrade_required`, `invalid_request`, `conflict`,
   * `rate_limited`.
   */
  mint(caller: Caller, slug: string, input: ProjectTokenInput): MintedToken {
    return this.#deps.store.inTx((tx) => {
      const minter = this.#minterIn(tx, caller);
      const { actor, master, createdBy } = minter;
      const project = ownProject(tx, actor, slug);
      checkMint(tx, minter);
      const hours = Math.min(input.ttlHours ?? DEFAULT_HOURS[actor.kind], MAX_TTL_HOURS);
      const minted = this.#deps.maker.makeIn(tx, {
        orgId: actor.orgId,
        createdBy,
        kind: 'project',
        name: input.name,
        project,
        parent: master,
        lineageId: null,
        allowedSubdomains: input.allowedSubdomains,
        tunnelQuota: input.tunnelQuota,
        bandwidthLimitMbps: input.bandwidthLimitMbps,
        monthlyBudgetUsdCents: input.monthlyBudgetUsdCents ?? null,
        expiresAt: Math.min(tx.now + hours * HOUR_MS, master === null ? Infinity : endOf(master)),
      });
      recordMint(tx, actor, minted);
      return minted;
    });
  }

  /**
   * Ends a key of the project, also where the organization may mint none. Returns how many ended: 0 when it had before. Throws `not_found`,
   * `forbidden`, `unauthorized`.
   */
  revoke(caller: Caller, slug: string, nonce: string): number {
    return this.#deps.store.inTx((tx) => {
      if (caller.kind === 'user') allow(caller, 'delete', 'token');
      else this.#deps.masterRights.checkLive(tx.db, tokenById(tx.db, caller.tokenId), tx.now);
      return this.#deps.ends.revokeIn(tx, caller, ownKey(tx, caller, { slug, nonce }));
    });
  }

  /**
   * Rotates a key of the project, as Rotation does. Throws `not_found`, `conflict`, `forbidden`, `unauthorized`, `upgrade_required`,
   * `rate_limited`.
   */
  rotate(caller: Caller, which: { readonly slug: string; readonly nonce: string }, graceHours: number): MintedToken {
    return this.#deps.store.inTx((tx) => {
      const minter = this.#minterIn(tx, caller);
      const old = ownKey(tx, minter.actor, which);
      if (!isLive(tx.db, old, tx.now))
        throw new AppError('not_found', 'The project has no valid access key with this id. Check the id.');
      return this.#deps.rotation.rotateIn(tx, minter, { old, graceHours });
    });
  }

  #minterIn(tx: Tx, caller: Caller): Minter {
    return caller.kind === 'user' ? personAs(caller, 'token') : this.#deps.masterRights.minterIn(tx, caller);
  }
}

function ownProject(tx: Tx, { orgId }: Caller, slug: string): ProjectRow {
  const project = findProject(tx.db, orgId, slug);
  if (project === undefined)
    throw new AppError('not_found', 'Your organization has no project with this id. Check the id.');
  return project;
}

function ownKey(tx: Tx, caller: Caller, which: { slug: string; nonce: string }): TokenRow {
  const project = ownProject(tx, caller, which.slug);
  const key = tokenByNonce(tx.db, caller.orgId, which.nonce);
  const isTheirs = caller.kind === 'user' || key?.parentId === caller.tokenId;
  if (key?.kind === 'project' && key.projectId === project.id && isTheirs) return key;
  throw new AppError('not_found', 'The project has no access key with this id. Check the id.');
}
