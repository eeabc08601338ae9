/**
 * Every limit that the API promises, and how it is met below, at and above its bound. Read by limits.test.ts, which runs each row in a
 * fresh LimitWorld. What can't be met in the control plane alone points to the test that meets it.
 */
import { accountLimits } from './limit-rows-accounts.ts';
import { maintenanceLimits } from './limit-rows-maintenance.ts';
import { domainLimits } from './limit-rows-domains.ts';
import { inspectorLimits } from './limit-rows-inspector.ts';
import { metricLimits } from './limit-rows-metrics.ts';
import { networkLimits } from './limit-rows-networks.ts';
import { policyLimits } from './limit-rows-policies.ts';
import { relayLimits } from './limit-rows-relays.ts';
import { replayLimits } from './limit-rows-replay.ts';
import { tokenLimits } from './limit-rows-tokens.ts';
import { tunnelLimits } from './limit-rows-tunnels.ts';
import { visitorLimits } from './limit-rows-visitors.ts';
import { webhookLimits } from './limit-rows-webhooks.ts';
import type { Row } from './limit-row.ts';

export const LIMITS: readonly Row[] = [
  ...accountLimits(),
  ...tunnelLimits(),
  ...tokenLimits(),
  ...policyLimits(),
  ...domainLimits(),
  ...maintenanceLimits(),
  ...webhookLimits(),
  ...metricLimits(),
  ...inspectorLimits(),
  ...replayLimits(),
  ...visitorLimits(),
  ...networkLimits(),
  ...relayLimits(),
];
