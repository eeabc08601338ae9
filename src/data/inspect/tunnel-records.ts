/** What a node knows of the records of one tunnel. Hangs on the tunnel's entry; made and used by recorder.ts. */
import type { Allowance } from '../../base/limits/allowance.ts';
import type { Route } from '../../plane/routes.ts';
import type { OrgShare } from './org-shares.ts';

export class TunnelRecords {
  readonly tunnelId: string;
  readonly orgId: string;
  readonly allowance: Allowance;
  /** Of its organization. */
  readonly org: OrgShare;
  /** Requests that were not recorded, and of which the control plane has yet to hear. */
  untold = 0;

  constructor(
    { route }: { readonly route: Pick<Route, 'tunnelId' | 'orgId'> },
    of: { readonly allowance: Allowance; readonly org: OrgShare },
  ) {
    this.tunnelId = route.tunnelId;
    this.orgId = route.orgId;
    this.allowance = of.allowance;
    this.org = of.org;
  }
}
