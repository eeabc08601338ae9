/**
 * What services say about routes after a commit. Implemented by publisher.ts; services never see deltas, versions or listeners.
 */
import type { RemovalCode, Route, TokenLimits } from '../../../plane/routes.ts';
import type { Budget } from '../../../plane/spend.ts';

export interface RouteEvents {
  put(route: Route): void;
  remove(tunnelId: string, code: RemovalCode, message: string): void;
  revokeToken(tokenId: string, message: string): void;
  /** The token ends at this instant, milliseconds, which is earlier than was said before. */
  endTokenAt(tokenId: string, expiresAt: number): void;
  /** What the live sessions of a token may serve has changed. */
  limitToken(limits: TokenLimits): void;
  /** What an account may spend has changed. */
  setBudget(budget: Budget): void;
  /** Ends the live sessions of an organization; whether they may come back is asked again when they do. */
  cutOrg(orgId: string, message: string): void;
}

/** How public addresses of tunnels are written; made from settings by server/start.ts. */
export interface PublicNames {
  /** URL of a label under the edge's domain. */
  url(label: string): string;
  /** Address of a public TCP port. */
  tcpUrl(port: number): string;
  /** `host:port` of a public UDP port. */
  udpEndpoint(port: number): string;
}
