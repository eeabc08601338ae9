/** Login of a tunnel's visitors with an identity provider. */
import { inArray } from 'drizzle-orm';
import type { BillingMode } from '../../core/rules/plan-gate.ts';
import type { Slice } from '../../core/slice.ts';
import { on } from '../../db/events.ts';
import { visitorGates as table } from '../../db/schema.ts';
import { tunnelsDeleted } from '../events.ts';
import { tunnels } from '../index.ts';
import { visitorRefusalPage } from './pages.ts';
import { mountVisitorGates } from './routes.ts';
import { VisitorGates } from './service.ts';
import { mountVisitorLogins } from './sign-in-routes.ts';
import { VisitorLogins } from './sign-in.ts';

export interface VisitorLoginOptions {
  /** Which identity provider says who visitors of tunnels are (`edge_auth.provider`). */
  readonly visitorProvider: 'google' | 'github';
  readonly billing: { readonly mode: BillingMode };
}

export interface VisitorLoginServices {
  readonly visitorGates: VisitorGates;
  readonly visitorLogins: VisitorLogins;
  /** Signs what browsers carry between the planes; base64url. */
  readonly visitorKey: string;
}

export const visitorLogin: Slice<VisitorLoginServices, VisitorLoginOptions> = {
  name: 'visitor login',
  service: (core, use, { visitorProvider: providerId, billing }) => {
    const { store, sealer, nodes, instance, edgeDomain, apiUrl, log, publisher: routeEvents } = core;
    const { tunnelRoutes: routes } = use(tunnels);
    // Of the start: data nodes learn the key then, and it must go with the provider.
    const provider = instance.providers[providerId];
    // Visitors of another provider must log in again.
    const visitorKey = sealer.derive(`visitor_gates/${providerId}/${instance.now.oauth.google?.issuer ?? ''}`);
    return {
      visitorGates: new VisitorGates({
        store,
        routeEvents,
        routes,
        billing: billing.mode,
        provider: { id: providerId, isSetUp: provider !== null },
      }),
      visitorLogins: new VisitorLogins({
        ...{ store, sealer, routes, nodes, edgeDomain, provider, providerId, visitorKey, apiUrl, log },
      }),
      visitorKey: visitorKey.toString('base64url'),
    };
  },
  routes: (api, services, { publicUrl }) => {
    mountVisitorGates(api, services);
    mountVisitorLogins(api, { ...services, publicUrl });
  },
  errorPages: { path: /^\/edge-auth\//, page: (error, c) => visitorRefusalPage(error, c.get('visitedSite')) },
  on: () => [
    on(
      tunnelsDeleted,
      (tx, { ids }) =>
        void tx.db
          .delete(table)
          .where(inArray(table.tunnelId, [...ids]))
          .run(),
    ),
  ],
};
