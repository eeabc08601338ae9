/**
 * What an agent may do about a private network: carry its datagrams (`attach`). Answers with the network or a named refusal and never throws for a
 * rule. Called by control/link.ts; the rules are checked at each attach, for a token may be revoked or an organization suspended since the session
 * began. Which agent carries it now is the data node's business: the newer one.
 */
import type { PortRange } from '../../../base/net/addr.ts';
import type { Refusal } from '../../../plane/link.ts';
import type { AttachQuestion } from '../../../plane/relays.ts';
import type { Store } from '../../db/tx.ts';
import type { Spend } from '../../access-keys/spend.ts';
import { type TokenRow, tokenById } from '../../access-keys/rows.ts';
import { refuse } from '../../access-keys/messages.ts';
import { refuseMore, refuseSpent, activeOrgOf } from '../../access-keys/admission.ts';
import { findNetwork, type NetworkRow } from '../rows.ts';
import { isRelayed } from './snapshot.ts';
import { isUdpPort } from './udp-ports.ts';

/** As AttachAnswer in plane/link.ts, before control/link.ts adds the version of the routing table. */
export type AttachDecision = { readonly ok: true; readonly networkId: string } | Refusal;

export interface AttachDeps {
  readonly store: Store;
  readonly spend: Pick<Spend, 'isExhausted'>;
  /** Ports of the edge that networks may have (`edge.udp_ports`). */
  readonly udpPorts: PortRange | null;
}

export class Attachments {
  readonly #deps: AttachDeps;

  constructor(deps: AttachDeps) {
    this.#deps = deps;
  }

  /** May this session carry this network's datagrams? */
  decide(question: AttachQuestion): AttachDecision {
    const { spend, udpPorts } = this.#deps;
    const { db, clock } = this.#deps.store;
    const now = clock.now();
    const token = tokenById(db, question.tokenId);
    if (token === undefined)
      return refuse(
        'unauthorized',
        'This server does not know the access key. Create one on it, or use another server.',
      );
    const org = activeOrgOf(db, token, now);
    if ('code' in org) return org;
    const narrow = refuseNarrow(token);
    if (narrow !== undefined) return narrow;
    const network = findNetwork(db, org.id, question.network);
    if (network === undefined) {
      return refuse(
        'network_not_found',
        `The organization ${org.name} has no private network ${question.network}. List them: culvert network list`,
      );
    }
    if (!isRelayed(network)) return refuseUnready(network);
    if (!isUdpPort(udpPorts, network.reservedUdpPort))
      return refusePort(network.name, network.reservedUdpPort, udpPorts);
    if (spend.isExhausted(db, token, now)) return refuseSpent(token);
    if (question.serving >= token.tunnelQuota) return refuseMore(token);
    return { ok: true, networkId: network.id };
  }
}

/** A network is the whole organization's: a key for one project, or for some names, is not meant for it. */
function refuseNarrow({ name, projectId, allowedSubdomains }: TokenRow): Refusal | undefined {
  const next = 'Create one for the whole organization: culvert tokens mint NAME';
  if (projectId !== null)
    return refuse('forbidden', `The access key ${name} is for one project and can't carry private networks. ${next}`);
  if (!allowedSubdomains.includes('*'))
    return refuse(
      'forbidden',
      `The access key ${name} is limited to subdomains and can't carry private networks. ${next}`,
    );
  return undefined;
}

function refuseUnready({ name, serverPublicKey, selfEndpoint }: NetworkRow): Refusal {
  if (serverPublicKey === null) {
    return refuse(
      'network_not_ready',
      `The network ${name} has no server yet. Register its WireGuard public key: culvert network set-server`,
    );
  }
  if (selfEndpoint !== null) {
    return refuse(
      'network_not_ready',
      `The network ${name} is not relayed: clients reach it at ${selfEndpoint}. To relay it, register its server without an endpoint: culvert network set-server`,
    );
  }
  return refuse(
    'network_not_ready',
    `The network ${name} has no public port. Register its server again: culvert network set-server`,
  );
}

/** Settings moved the range: the port may be shut in a firewall by now, or another program's. */
function refusePort(name: string, port: number, range: PortRange | null): Refusal {
  return range === null
    ? refuse(
        'network_not_ready',
        'This server does not relay private networks. The operator can turn it on: edge.udp_ports.',
      )
    : refuse(
        'network_not_ready',
        `The port ${port} of the network ${name} is no longer in edge.udp_ports. Register its server again (culvert network set-server), then give clients new configurations.`,
      );
}
