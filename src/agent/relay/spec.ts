/**
 * A private network that an agent is to carry, as the user asked for it. Made by the command line; the server can't name an address
 * that the agent would send to.
 */

/** Where the network's WireGuard listens, as seen from here. A `LocalTarget` is one. */
export interface DatagramTarget {
  /** As shown to people and to the server. */
  readonly text: string;
  /** Tried in this order. More than one only for this machine. */
  readonly hosts: readonly string[];
  readonly port: number;
}

export interface RelaySpec {
  /** Unique among the agent's tunnels and relays. */
  readonly name: string;
  /** Id or name of the network. */
  readonly network: string;
  readonly target: DatagramTarget;
  /** false: never UDP to the server, the session's stream carries everything. */
  readonly udp: boolean;
  /** The WireGuard interface whose peers are kept in step with the network's devices; none: a person does that. */
  readonly manage?: ManagedInterface;
}

export interface ManagedInterface {
  /** `wg0`. */
  readonly name: string;
  /** Where the agent keeps which peers it has added. */
  readonly folder: string;
}
