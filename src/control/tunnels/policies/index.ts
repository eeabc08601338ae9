/** Traffic policies of tunnels, their tests, and what tried actions would refuse. */
import type { Slice } from '../../core/slice.ts';
import { on } from '../../db/events.ts';
import { nodeReported, tunnelsDeleted } from '../events.ts';
import { tunnels } from '../index.ts';
import { DryRunRows, forgetDryRuns } from './dry-runs.ts';
import { mountPolicyTests } from './policy-test-routes.ts';
import { PolicyTests } from './policy-test.ts';
import { mountPolicies } from './routes.ts';
import { Policies } from './service.ts';

export interface PolicyOptions {
  /** May keys of JWTs be fetched from private addresses (`edge.allow_private_jwks`)? */
  readonly allowPrivateJwks: boolean;
}

export interface PolicyServices {
  readonly policies: Policies;
  readonly policyTests: PolicyTests;
  readonly dryRunRows: DryRunRows;
}

export const policies: Slice<PolicyServices, PolicyOptions> = {
  name: 'policies',
  service: ({ store, nodes, records, apiUrl, publisher: routeEvents }, use, { allowPrivateJwks }) => ({
    policies: new Policies({
      store,
      routeEvents,
      routes: use(tunnels).tunnelRoutes,
      keyPlaces: { allowPrivate: allowPrivateJwks, ownIssuer: apiUrl },
    }),
    policyTests: new PolicyTests({ store, nodes, records }),
    dryRunRows: new DryRunRows(store.db),
  }),
  routes: (api, services) => {
    mountPolicies(api, services);
    mountPolicyTests(api, services);
  },
  on: ({ dryRunRows }) => [
    on(tunnelsDeleted, (tx, { ids }) => forgetDryRuns(tx, ids)),
    on(nodeReported, (_tx, { events }) => {
      for (const event of events) if (event.kind === 'dry_run') dryRunRows.add(event);
    }),
  ],
};
