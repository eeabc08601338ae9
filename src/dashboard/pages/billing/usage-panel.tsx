/** The use of the organization, beside what its plan allows. */
import { SimpleGrid } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useAccount, useApi } from '../../api/context.tsx';
import { Fact } from '../../parts/fact.tsx';
import { bytesText, countText } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { RESERVED } from '../names/name-labels.ts';
import { useCounters } from '../overview/overview-queries.ts';
import { useSeries } from '../overview/traffic-panel.tsx';

export function UsagePanel() {
  const { client } = useApi();
  const { reserved_subdomains: most } = useAccount().entitlements;
  const counters = useCounters().data;
  const names = useQuery({
    queryKey: RESERVED,
    queryFn: ({ signal }) => answered(client.GET('/reserved-subdomains', { signal })),
  }).data;
  const [requests, bytesIn, bytesOut] = [useTotal('requests'), useTotal('bytes_in'), useTotal('bytes_out')];
  return (
    <Panel title="Usage" about="Requests and traffic of the last 30 days; tunnels and names now.">
      <SimpleGrid cols={{ base: 2, sm: 5 }} spacing="md">
        <Fact title="Forwarded requests">{shown(requests, countText)}</Fact>
        <Fact title="In">{shown(bytesIn, bytesText)}</Fact>
        <Fact title="Out">{shown(bytesOut, bytesText)}</Fact>
        <Fact title="Tunnels online">
          {counters === undefined
            ? '–'
            : `${countText(counters.active_tunnels)} of ${countText(counters.total_tunnels)}`}
        </Fact>
        <Fact title="Reserved names">
          {shown(names?.length, countText)}
          {most !== null && ` of ${countText(most)}`}
        </Fact>
      </SimpleGrid>
    </Panel>
  );
}

/** Of 30 days; undefined until it is known. */
function useTotal(metric: Parameters<typeof useSeries>[0]): number | undefined {
  return useSeries(metric, '30d').data?.values.reduce((sum, { value }) => sum + value, 0);
}

function shown(value: number | undefined, say: (value: number) => string): string {
  return value === undefined ? '–' : say(value);
}
