/** Names under the edge's domain: which are free, and which an organization has reserved. */
import { lt } from 'drizzle-orm';
import { forgetRows } from '../core/retention.ts';
import type { BillingMode } from '../core/rules/plan-gate.ts';
import type { Slice } from '../core/slice.ts';
import { restingNames } from '../db/schema.ts';
import { REST_MS } from './free-names.ts';
import { OwnLabels } from './own-labels.ts';
import { mountReservedSubdomains } from './routes.ts';
import { ReservedSubdomains } from './service.ts';

export interface SubdomainOptions {
  /** `agents.public_address`, without its port. */
  readonly agentsHost: string;
  readonly billing: { readonly mode: BillingMode };
}

export interface SubdomainServices {
  readonly reservedSubdomains: ReservedSubdomains;
  readonly ownLabels: OwnLabels;
}

export const subdomains: Slice<SubdomainServices, SubdomainOptions> = {
  name: 'subdomains',
  service: ({ store, edgeDomain, apiUrl, instance }, _use, { agentsHost, billing }) => {
    const urls = () => {
      const { google, github } = instance.now.oauth;
      return [apiUrl(), google?.issuer, github?.authorizeUrl];
    };
    const ownLabels = new OwnLabels({ edgeDomain, agentsHost, urls });
    return { ownLabels, reservedSubdomains: new ReservedSubdomains({ store, billing: billing.mode, ownLabels }) };
  },
  routes: mountReservedSubdomains,
  drains: ({ reservedSubdomains: of }) => [{ kind: 'organization_deleted', drain: of.drain.bind(of) }],
  forget: [forgetRows(restingNames, restingNames.label, (now) => lt(restingNames.deletedAt, now - REST_MS))],
};
