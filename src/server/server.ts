/** A server as its starter holds it, and what it is started with. */
import type { AddressInfo } from 'node:net';
import type { Logger } from '../base/log.ts';
import type { ReleaseOptions } from '../control/download/service.ts';
import type { ControlOptions } from '../control/open.ts';
import type { CreatedUser } from '../control/auth/accounts/service.ts';
import type { StartNode } from './data-node.ts';
import type { HeldSockets } from './held-sockets.ts';

export interface ServerOptions {
  readonly version: string;
  readonly log: Logger;
  /** Lines of the log that could not be written; kept up to date by its writer. */
  readonly logLines?: { readonly lost: number; readonly isLosing: boolean };
  /** For an access log on standard output; default: that of the process. */
  readonly output?: NodeJS.WritableStream;
  /** Begins a new server over what another one left without its database, which is moved aside. Default: such a start is refused. */
  readonly newServer?: boolean;
  /** The settings file, absolute, for backups; null: the defaults. */
  readonly settingsFile?: string | null;
  /** Sockets that systemd holds for it; none by default. */
  readonly held?: HeldSockets;
  /** Another data node, for tests of the control plane alone. */
  readonly startNode?: StartNode;
  /** The program of a release, for tests of downloads; default: the one that runs. */
  readonly program?: ReleaseOptions['program'];
  /** What computes argon2id in place of threads; called by each plane, which closes what it gets. */
  readonly makeHasher?: ControlOptions['makeHasher'];
}

export interface ServerAddresses {
  readonly api: AddressInfo;
  readonly http: AddressInfo | null;
  readonly https: AddressInfo | null;
  readonly agents: AddressInfo;
  readonly metrics: AddressInfo | null;
}

export interface Server {
  readonly addresses: ServerAddresses;
  /** Where the API is reached, with the real port. */
  readonly apiUrl: string;
  /** Set when this start made the database: the only time that the password can be shown. */
  readonly firstOwner: CreatedUser | undefined;
  /** The owner's address, when an earlier start made the account and ended before it showed the password. */
  readonly unseenOwner: string | undefined;
  /** To be called once the operator has the password of `firstOwner`. */
  ownerShown(): void;
  /** Reads certificates from files now, and not at the next look. What does not fit is logged and kept out. Never rejects. */
  reloadCertificates(): Promise<void>;
  /** Opens log files again that another program has moved. */
  reopenLogs(): void;
  /** Takes nothing new, tells agents, lets what is in flight end (`drainSeconds`), then closes. Call `close` meanwhile to cut it short. */
  drain(): Promise<void>;
  /** Cuts everything and frees the data folder. May be called twice. */
  close(): Promise<void>;
  /** What `drain` gives to what is in flight. */
  readonly drainSeconds: number;
  /** Resolves when the data node has ended by a fault: nothing is served any more, and the process should end. */
  readonly failed: Promise<Error>;
}
