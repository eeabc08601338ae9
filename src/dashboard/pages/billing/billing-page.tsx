/** The plan of the organization, all plans beside one another, and the ways to buy, change and end one. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { CurrentPanel } from './current-panel.tsx';
import { PlansPanel } from './plans-panel.tsx';
import { ReturnNote, useReturn } from './return.tsx';

/** After a purchase the payment provider tells the server within seconds. */
const SOON_MS = 3000;

export function BillingPage() {
  const { client } = useApi();
  const back = useReturn();
  const billing = useQuery({
    queryKey: ['billing'],
    queryFn: ({ signal }) => answered(client.GET('/billing', { signal })),
    refetchInterval: back === 'done' ? SOON_MS : false,
  });
  return (
    <Page title="Billing" about="What the organization's plan includes, and how to change it.">
      <Loaded query={billing}>
        {(data) => (
          <>
            <ReturnNote back={back} billing={data} />
            <CurrentPanel billing={data} />
            <PlansPanel billing={data} />
            <Text size="sm" c="dimmed">
              All plans have any number of tunnels, keys, domains and private networks, within the limits of this
              server.
            </Text>
          </>
        )}
      </Loaded>
    </Page>
  );
}
