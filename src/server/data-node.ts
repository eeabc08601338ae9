/**
 * From settings to a data node: the slice that it needs, in its own words. Called by start.ts.
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { HostPort } from '../base/addr.ts';
import type { Logger } from '../base/log.ts';
import type { Settings } from '../config/schema.ts';
import type { Link, NodeControl } from '../plane/link.ts';
import type { Certificate, Certificates } from './certificates.ts';

export interface NodeSettings {
  readonly nodeId: string;
  readonly serverVersion: string;
  readonly edge: {
    readonly domain: string;
    readonly http: HostPort | null;
    readonly https: HostPort | null;
    readonly tls: Certificate | null;
    readonly tcpHost: string;
    readonly trustedProxies: readonly string[];
  };
  readonly agents: { readonly listen: HostPort; readonly tls: Certificate };
}

export interface DataNode extends NodeControl {
  addresses(): { http: AddressInfo | null; https: AddressInfo | null; agents: AddressInfo };
  drain(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

export type StartNode = (settings: NodeSettings, deps: { link: Link; log: Logger }) => Promise<DataNode>;

export interface NodeDeps {
  readonly certificates: Certificates;
  readonly link: Link;
  readonly version: string;
  readonly log: Logger;
}

/** Starts the data node on its slice of the settings. */
export function startDataNode(settings: Settings, deps: NodeDeps, startNode: StartNode): Promise<DataNode> {
  const { edge, agents } = settings;
  return startNode(
    {
      // New per start, for its batches count from 1 again.
      nodeId: randomUUID(),
      serverVersion: deps.version,
      edge: {
        domain: edge.domain,
        http: edge.http_listen,
        https: deps.certificates.edge === null ? null : edge.https_listen,
        tls: deps.certificates.edge,
        tcpHost: edge.tcp_host,
        trustedProxies: settings.api.trusted_proxies,
      },
      agents: { listen: agents.listen, tls: deps.certificates.agents },
    },
    { link: deps.link, log: deps.log },
  );
}
