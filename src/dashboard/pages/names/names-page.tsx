/** Reserved names: public names that the organization keeps, whether or not a tunnel has them. */
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useAccount, useApi, useMay } from '../../api/context.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { PlanLink } from '../../parts/plan-link.tsx';
import { NameForm } from './name-form.tsx';
import { NameTable } from './name-table.tsx';
import { RESERVED, roomText } from './name-labels.ts';

const AGAIN_MS = 15_000;

export function NamesPage() {
  const { client } = useApi();
  const names = useQuery({
    queryKey: RESERVED,
    queryFn: ({ signal }) => answered(client.GET('/reserved-subdomains', { signal })),
    refetchInterval: AGAIN_MS,
  });
  return (
    <Page
      title="Reserved names"
      about="A reserved name stays yours, with or without a tunnel. Other names have a cooldown of 24 hours, then any organization can take them."
    >
      <Loaded query={names}>
        {(rows) => (
          <>
            <Room used={rows.length} />
            {rows.length > 0 && <NameTable names={rows} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** How many the plan has, and the form for another one while there is room. */
function Room({ used }: { readonly used: number }) {
  const { plan, reserved_subdomains: most } = useAccount().entitlements;
  const mayReserve = useMay('member');
  const isFull = most !== null && used >= most;
  return (
    <Panel title="Reserve a name" about={roomText(used, most)}>
      {isFull && (
        <PlanLink>
          {most === 0
            ? `Your plan, ${plan}, has no reserved names.`
            : `All ${most} names of your plan, ${plan}, are in use.`}
        </PlanLink>
      )}
      {!isFull && mayReserve && <NameForm />}
      {!isFull && !mayReserve && (
        <Text size="sm" c="dimmed">
          Members reserve names; your role is to watch.
        </Text>
      )}
    </Panel>
  );
}
