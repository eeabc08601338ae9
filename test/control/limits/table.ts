/**
 * Every limit that the API promises, and how it is met below, at and above its bound. Read by limits.test.ts, which runs each row in a
 * fresh LimitFixture. What can't be met in the control plane alone points to the test that meets it.
 */
import { accountLimits } from './rows-accounts.ts';
import { maintenanceLimits } from './rows-maintenance.ts';
import { domainLimits } from './rows-domains.ts';
import { exportLimits } from './rows-export.ts';
import { inspectorLimits } from './rows-inspector.ts';
import { metricLimits } from './rows-metrics.ts';
import { networkLimits } from './rows-networks.ts';
import { policyLimits } from './rows-policies.ts';
import { relayLimits } from './rows-relays.ts';
import { replayLimits } from './rows-replay.ts';
import { tokenLimits } from './rows-tokens.ts';
import { tunnelLimits } from './rows-tunnels.ts';
import { visitorLimits } from './rows-visitors.ts';
import { webhookLimits } from './rows-webhooks.ts';
import { alertLimits } from './rows-alerts.ts';
import type { Row } from './row.ts';

export const LIMITS: readonly Row[] = [
  ...accountLimits(),
  ...tunnelLimits(),
  ...tokenLimits(),
  ...policyLimits(),
  ...domainLimits(),
  ...maintenanceLimits(),
  ...webhookLimits(),
  ...alertLimits(),
  ...exportLimits(),
  ...metricLimits(),
  ...inspectorLimits(),
  ...replayLimits(),
  ...visitorLimits(),
  ...networkLimits(),
  ...relayLimits(),
];
