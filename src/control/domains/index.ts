/** Custom domains. */
import { inArray } from 'drizzle-orm';
import { certificates } from '../certificates/index.ts';
import type { Slice } from '../core/slice.ts';
import { on } from '../db/events.ts';
import { domains as table } from '../db/schema.ts';
import { DnsTxtRecords } from '../providers/dns.ts';
import { tunnelsDeleted } from '../tunnels/events.ts';
import { tunnels } from '../tunnels/index.ts';
import { DomainChallenges } from './challenges.ts';
import { DomainChecks } from './checks.ts';
import { mountDomains } from './routes.ts';
import { Domains } from './service.ts';

export interface DomainOptions {
  /** DNS servers that are asked about custom domains (`dns.resolvers`); empty: the system's. */
  readonly dnsResolvers: readonly string[];
}

export interface DomainServices {
  readonly domains: Domains;
  readonly domainChecks: DomainChecks;
}

export const domains: Slice<DomainServices, DomainOptions> = {
  name: 'domains',
  service: ({ store, outbox, ownHosts, publisher: routeEvents }, use, { dnsResolvers }) => {
    const { tunnelRoutes: routes } = use(tunnels);
    const records = new DnsTxtRecords(dnsResolvers);
    const challenges = new DomainChallenges(records);
    return {
      domains: new Domains({ store, routeEvents, routes, challenges, ownHosts }),
      domainChecks: new DomainChecks({ store, routeEvents, routes, records, outbox }),
    };
  },
  routes: (api, services, { use }) => mountDomains(api, { ...services, ...use(certificates) }),
  on: () => [
    on(tunnelsDeleted, (tx, { ids }) => {
      tx.db
        .update(table)
        .set({ tunnelId: null })
        .where(inArray(table.tunnelId, [...ids]))
        .run();
    }),
  ],
  drains: ({ domains: of }) => [{ kind: 'organization_deleted', drain: of.drain.bind(of) }],
  jobs: ({ domainChecks }) => [
    { name: 'custom domains', everyMs: 60_000, run: (stopping) => domainChecks.checkDue(stopping) },
  ],
};
