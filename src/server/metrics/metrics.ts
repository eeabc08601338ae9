/** Settings → the listener for scrapers of the operator. Called by start.ts. */
import type { Logger } from '../../base/log.ts';
import type { Settings } from '../../config/schema.ts';
import { exposeServer } from '../../control/operator/exposition.ts';
import type { ControlPlane } from '../../control/open.ts';
import type { OperatorActor } from '../../control/core/rules/actor.ts';
import { type MetricsListener, openMetricsListener } from './metrics-listener.ts';

/** Any client that reaches the listener, with the token where one is set: the operator's settings say so. */
export const SCRAPER: OperatorActor = {
  kind: 'operator',
  orgId: null,
  userId: null,
  label: 'operator (metrics)',
  ipAddress: '',
};

interface MetricsParts {
  readonly control: Pick<ControlPlane, 'operatorMetrics'>;
  readonly version: string;
  readonly log: Logger;
}

/** Null where `metrics.listen` is off. Throws as `openMetricsListener` does. */
export async function serveMetrics(
  settings: Settings,
  { control, version, log }: MetricsParts,
): Promise<MetricsListener | null> {
  const { listen, token_file: tokenFile } = settings.metrics;
  if (listen === null) return null;
  return openMetricsListener({
    listen,
    tokenFile,
    page: async () => exposeServer(await control.operatorMetrics.figures(SCRAPER), version),
    log: log.child({ part: 'metrics' }),
  });
}
