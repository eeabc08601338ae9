/** What a plan includes, as the routes about the account and about billing show it. */
import { z } from '@hono/zod-openapi';
import { type Entitlements, type Plan, PLANS } from '../core/rules/plans.ts';

export const entitlementsView = z
  .object({
    plan: z.enum(PLANS),
    max_tunnel_ttl_seconds: z.int().nullable().openapi({ description: 'null = no maximum' }),
    reserved_subdomains: z.int().nullable().openapi({ description: 'null = unlimited' }),
    edge_auth: z.boolean(),
    master_keys: z.boolean(),
    inspector_retention_days: z.int(),
  })
  .openapi('Entitlements');

export const ENTITLEMENTS_EXAMPLE: z.infer<typeof entitlementsView> = {
  plan: 'pro',
  max_tunnel_ttl_seconds: 86_400,
  reserved_subdomains: 5,
  edge_auth: true,
  master_keys: true,
  inspector_retention_days: 30,
};

export function presentEntitlements(plan: Plan, included: Entitlements): z.infer<typeof entitlementsView> {
  return {
    plan,
    max_tunnel_ttl_seconds: included.maxTunnelTtlSeconds,
    reserved_subdomains: included.reservedSubdomains,
    edge_auth: included.edgeAuth,
    master_keys: included.masterKeys,
    inspector_retention_days: included.inspectorRetentionDays,
  };
}
