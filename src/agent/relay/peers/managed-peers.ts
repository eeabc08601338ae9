/** The managed interface of a relay: lists of devices come in parts from the server, and a keeper acts on them. */
import { join } from 'node:path';
import type { Logger } from '../../../base/log.ts';
import type { Peers } from '../../../wire/messages.ts';
import type { ManagedView } from '../../events.ts';
import type { Schedule } from '../../schedule.ts';
import type { ManagedInterface } from '../spec.ts';
import { OwnPeers } from './own-peers.ts';
import { type PeerChanges, PeerKeeper } from './peer-keeper.ts';
import { Wg, type WireguardPeer } from './wg.ts';

/** More than a network can have: such a list is none of a server of ours. */
const MAX_PEERS = 16_384;

interface ManagedParts {
  readonly floor: { readonly schedule: Schedule };
  readonly log: Logger;
  readonly onChanges: (changes: PeerChanges) => void;
  /** The fault of the view changed. */
  readonly onFault: () => void;
}

export interface ManagedPeers {
  take(peers: Peers, networkId: string): void;
  view(): ManagedView;
  close(): void;
}

export function managePeers({ name, folder }: ManagedInterface, parts: ManagedParts): ManagedPeers {
  const { floor, log, onChanges, onFault } = parts;
  let keeper: PeerKeeper | undefined;
  let keptFor = '';
  let parted: WireguardPeer[] = [];
  let fault: string | undefined;
  const keeperOf = (networkId: string): PeerKeeper => {
    if (keeper !== undefined && keptFor === networkId) return keeper;
    void keeper?.close();
    const file = join(folder, `wireguard-${name}-${networkId}.json`);
    keptFor = networkId;
    keeper = new PeerKeeper({
      table: new Wg(name),
      own: new OwnPeers(file, { interface: name, network_id: networkId }),
      log: log.child({ interface: name }),
      schedule: floor.schedule,
      onChanges,
      onFault: (text) => {
        fault = text;
        onFault();
      },
    });
    return keeper;
  };
  return {
    take({ items, isFirst, isLast }, networkId) {
      if (isFirst) parted = [];
      if (parted.length > MAX_PEERS) return;
      for (const item of items) parted.push(item);
      if (!isLast) return;
      keeperOf(networkId).want(parted);
      parted = [];
    },
    view: () => ({ interface: name, fault }),
    close: () => {
      void keeper?.close();
      keeper = undefined;
    },
  };
}
