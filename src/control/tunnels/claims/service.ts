/**
 * What an agent may do: open a session with a token (`admit`), serve a tunnel (`claim`). Both answer with a grant or a named refusal
 * and never throw for a rule. Called by control/link.ts. The rules are checked at each claim, for a token may be revoked or an
 * organization suspended since the session began.
 */
import type { PortRange } from '../../../base/net/addr.ts';
import {
  type AdmitAnswer,
  type ClaimQuestion,
  type NodeControl,
  type Refusal,
  RECHECKED_AT_ONCE,
} from '../../../plane/link.ts';
import type { Narrowing } from '../../../plane/narrowing.ts';
import type { Route } from '../../../plane/routes.ts';
import type { Store, Tx } from '../../db/tx.ts';
import type { TokenActor } from '../../core/rules/actor.ts';
import { NarrowedTunnels } from './narrowed.ts';
import { type ClaimContext, locate, projectFor } from './names.ts';
import { placed, refusePort } from './places.ts';
import { refuse } from '../../access-keys/messages.ts';
import { refuseFault } from '../messages.ts';
import type { RouteEvents } from '../../core/link/route-events.ts';
import type { RouteMaker } from '../plane/route-maker.ts';
import { refuseMore, refuseSpent, activeOrgOf } from '../../access-keys/admission.ts';
import { letPortRest } from '../../core/rules/public-ports.ts';
import { pickTcpPort } from '../tcp-ports.ts';
import { lineageOf, type Spend } from '../../access-keys/spend.ts';
import { bandwidthOf } from '../../access-keys/limits/changes.ts';
import { endOf, type TokenRow, tokenById } from '../../access-keys/rows.ts';
import type { Tokens } from '../../access-keys/service.ts';
import type { Maintenance } from '../maintenance.ts';
import type { OwnLabels } from '../../subdomains/own-labels.ts';
import { fittingCommand } from './recall/fits.ts';
import { keepCommand } from './recall/rows.ts';
import { placeTunnel } from '../room.ts';
import { expiryFrom, isExpired, recordTunnel, type TunnelRow, updateTunnel } from '../rows.ts';

const FLAGS_TOO_OFTEN =
  'The flags of your agents that restrict visitors changed too often today. Keep them as they were, or try again later.';

export interface ClaimDeps {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly spend: Spend;
  readonly routeEvents: RouteEvents;
  readonly routes: RouteMaker;
  readonly maintenance: Maintenance;
  readonly nodes: NodeControl;
  readonly tcpPorts: PortRange | null;
  readonly ownLabels: OwnLabels;
}

/** As ClaimAnswer in plane/link.ts, before control/link.ts adds the version of the routing table. */
export type ClaimDecision = { readonly ok: true; readonly route: Route } | Refusal;

export class Claims {
  readonly #deps: ClaimDeps;
  readonly #narrowed = new NarrowedTunnels();

  constructor(deps: ClaimDeps) {
    this.#deps = deps;
  }

  /** May an agent at this address with this text key or base64 wire form open a session? */
  admit(presented: string, remoteIp?: string): AdmitAnswer {
    const token = this.#deps.tokens.recognise(presented);
    const answer = this.#grantOf(token);
    if (answer.ok && token !== undefined) this.#deps.tokens.touch(token, remoteIp ?? null);
    return answer;
  }

  /** The same of tokens by their ids, in their order: what those of live sessions are good for now. */
  recheck(tokenIds: readonly string[]): readonly AdmitAnswer[] {
    return tokenIds.slice(0, RECHECKED_AT_ONCE).map((id) => this.#grantOf(tokenById(this.#deps.store.db, id)));
  }

  #grantOf(token: TokenRow | undefined): AdmitAnswer {
    const now = this.#deps.store.clock.now();
    if (token === undefined)
      return refuse(
        'unauthorized',
        'This server does not know the access key. Create one on it, or use another server.',
      );
    const org = activeOrgOf(this.#deps.store.db, token, now);
    if ('code' in org) return org;
    return {
      ok: true,
      grant: {
        tokenId: token.id,
        orgId: token.orgId,
        account: org.name,
        tunnelQuota: token.tunnelQuota,
        lineageId: lineageOf(token),
        bandwidthLimitMbps: bandwidthOf(token),
        budgets: this.#deps.spend.budgetsOf(this.#deps.store.db, token, now),
        expiresAt: endOf(token),
      },
    };
  }

  /**
   * May this session serve this tunnel? Makes the tunnel when there is none, and takes it over within the organization. `narrowing`: what the
   * session will add in front of it.
   */
  claim(question: ClaimQuestion, narrowing: Narrowing | null = null): ClaimDecision {
    // Relaxed: a claim that a power cut undoes is made again by the agent's reconnect.
    return this.#deps.store.inTx((tx) => this.#decide(tx, question, narrowing), { relaxed: true });
  }

  #decide(tx: Tx, question: ClaimQuestion, narrowing: Narrowing | null): ClaimDecision {
    const token = tokenById(tx.db, question.tokenId);
    if (token === undefined)
      return refuse(
        'unauthorized',
        'This server does not know the access key. Create one on it, or use another server.',
      );
    const decision = this.#grant(tx, token, { question, narrowing });
    if (!decision.ok) return decision;
    const isNoted = this.#narrowed.note(tx, actorOf(token), { tunnelId: decision.route.tunnelId, narrowing });
    if (!isNoted) return refuse('overloaded', FLAGS_TOO_OFTEN);
    keepCommand(tx, decision.route.tunnelId, fittingCommand(question, narrowing));
    return decision;
  }

  #grant(
    tx: Tx,
    token: TokenRow,
    { question: asked, narrowing }: { question: ClaimQuestion; narrowing: Narrowing | null },
  ): ClaimDecision {
    const org = activeOrgOf(tx.db, token, tx.now);
    if ('code' in org) return org;
    const place = placed(tx, { orgId: org.id, question: asked, range: this.#deps.tcpPorts }, narrowing);
    if ('code' in place) return place;
    const { question, port } = place;
    const project = projectFor(tx, token, question.project);
    if ('code' in project) return project;
    const context: ClaimContext = { token, org, project, nodes: this.#deps.nodes, port };
    const found = locate(tx, context, question);
    if ('code' in found) return found;
    // Also a tunnel that had the name before the server did.
    if (this.#deps.ownLabels.has(found.label)) return refuseFault('system_name', found.label);
    if (this.#deps.spend.isExhausted(tx.db, token, tx.now) && !isComeback(tx, token, { question, row: found.row })) {
      return refuseSpent(token);
    }
    const others = question.liveTunnelIds.filter((id) => id !== found.row?.id);
    if (new Set(others).size + (question.relays ?? 0) >= token.tunnelQuota) return refuseMore(token);
    return found.row === undefined
      ? this.#make(tx, context, { question, ...found })
      : this.#take(tx, context, { question, row: found.row, isKept: (narrowing?.remotePort ?? null) !== null });
  }

  #make(
    tx: Tx,
    context: ClaimContext,
    input: { question: ClaimQuestion; label: string; ephemeral: boolean },
  ): ClaimDecision {
    const { token, org, project, nodes, port } = context;
    const { question, label, ephemeral } = input;
    // Also what was granted to a claim before this one, and is not bound yet.
    const isTaken = (id: string): boolean => nodes.isTaken(id) || question.liveTunnelIds.includes(id);
    const row = placeTunnel(
      tx,
      {
        orgId: org.id,
        projectId: project.id,
        label,
        protocol: question.protocol,
        localPort: question.localPort,
        ttlSeconds: null,
        // A port by number is kept for the organization.
        ephemeral: ephemeral && port === null,
        tokenId: token.id,
      },
      { ...this.#deps, plan: org.plan, nodes: { isTaken }, onlyPort: port ?? undefined },
    );
    if (row === 'no_port_free' && port !== null) return refusePort(port);
    if (typeof row === 'string') return refuseFault(row, label);
    recordTunnel(tx, actorOf(token), { action: 'tunnel.create', row });
    return this.#bind(tx, row, true);
  }

  #take(
    tx: Tx,
    context: ClaimContext,
    input: { question: ClaimQuestion; row: TunnelRow; isKept: boolean },
  ): ClaimDecision {
    const { token, org, project, port } = context;
    const { question, row, isKept } = input;
    if (row.orgId !== org.id || row.projectId !== project.id) return refuseFault('name_taken', row.label);
    if (row.stopped)
      return refuse('tunnel_stopped', `${row.label} is stopped. Start it: culvert tunnels start ${row.label}`);
    if ((row.protocol === 'tcp') !== (question.protocol === 'tcp')) {
      return refuse(
        'duplicate_name',
        `${row.label} is ${row.protocol.startsWith('h') ? 'an' : 'a'} ${row.protocol} tunnel. Delete it, or choose another name.`,
      );
    }
    if (port !== null) {
      const has = `${row.label} has the public port ${row.tcpPort}`;
      return refuse('duplicate_name', `${has}. Use that one, or choose another name.`);
    }
    const isOver = isExpired(row, tx.now);
    // The run that was cut off does not begin a new life by coming back: a fresh one may.
    if (isOver && question.tunnelId === row.id) {
      return refuse(
        'tunnel_expired',
        `The tunnel ${row.label} has expired. Start the agent again, or run: culvert tunnels start ${row.label}`,
      );
    }
    const change: Partial<TunnelRow> = {};
    if (row.protocol !== question.protocol) Object.assign(change, { protocol: question.protocol });
    if (row.localPort !== question.localPort) Object.assign(change, { localPort: question.localPort });
    if (isKept && row.ephemeral) Object.assign(change, { ephemeral: false });
    if (row.tokenId !== token.id) Object.assign(change, { tokenId: token.id });
    if (isOver) {
      const expiresAt = expiryFrom(tx.now, org.plan, row.ttlSeconds);
      Object.assign(change, { expired: false, startedAt: tx.now, expiresAt });
      recordTunnel(tx, actorOf(token), { action: 'tunnel.start', row });
    }
    if (row.tcpPort !== null && !holds(this.#deps.tcpPorts, row.tcpPort)) {
      // Settings moved the range: the old port can't be bound any more.
      const tcpPort = pickTcpPort(tx, this.#deps.tcpPorts, { orgId: org.id });
      if (typeof tcpPort === 'string') return refuseFault(tcpPort, row.label);
      letPortRest(tx, 'tcp', { port: row.tcpPort, orgId: org.id });
      Object.assign(change, { tcpPort });
    }
    const changed = Object.keys(change).length > 0;
    return this.#bind(tx, changed ? updateTunnel(tx, row, change) : row, changed);
  }

  #bind(tx: Tx, row: TunnelRow, changed: boolean): ClaimDecision {
    const route = this.#deps.routes.routeOf(tx.db, row);
    if (changed) tx.onCommit(() => this.#deps.routeEvents.put(route));
    return { ok: true, route };
  }
}

/**
 * The run that served this tunnel with this key (or one that rotation made of it) reconnects. It is bound at the cap too, and its visitors are
 * told why nothing passes: a restart of the server must not end all agents of a key whose budget begins again, or is raised, tomorrow.
 */
function isComeback(
  tx: Tx,
  token: TokenRow,
  { question, row }: { question: ClaimQuestion; row: TunnelRow | undefined },
): boolean {
  if (row === undefined || row.id !== question.tunnelId || row.tokenId === null) return false;
  const last = tokenById(tx.db, row.tokenId);
  return last !== undefined && lineageOf(last) === lineageOf(token);
}

function actorOf({ id, name, orgId }: TokenRow): TokenActor {
  return { kind: 'token', tokenId: id, name, orgId };
}

function holds(range: PortRange | null, port: number): boolean {
  return range !== null && port >= range.first && port <= range.last;
}
