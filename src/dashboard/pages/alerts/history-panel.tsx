/** What fired last. */
import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import { Ago, When } from '../../parts/time/ago.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { type Incident, incidentState } from './alert-labels.ts';
import { useHistory } from './alert-queries.ts';

export function HistoryPanel() {
  const history = useHistory();
  return (
    <Panel title="History" about="The last 100 alerts, for 90 days.">
      <Loaded query={history}>
        {(all) =>
          all.length === 0 ? (
            <Text size="sm" c="dimmed">
              Nothing has fired yet.
            </Text>
          ) : (
            <Table label="History" rows={all} rowKey={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Loaded>
    </Panel>
  );
}

const COLUMNS: ReadonlyArray<Column<Incident>> = [
  {
    key: 'title',
    title: 'Alert',
    cell: ({ title, href }) => (
      <Anchor component={Link} href={href.replace(/^\/app/, '')} size="sm" className="culvert-wrap">
        {title}
      </Anchor>
    ),
  },
  {
    key: 'state',
    title: 'State',
    cell: (incident) => {
      const { tone, words } = incidentState(incident);
      return <StateBadge tone={tone}>{words}</StateBadge>;
    },
  },
  { key: 'fired', title: 'Fired', cell: ({ fired_at: at }) => (at === null ? '-' : <When at={at} />) },
  {
    key: 'recovered',
    title: 'Recovered',
    cell: ({ recovered_at: at, state }) => <Ago at={at} never={state === 'firing' ? 'not yet' : '-'} />,
  },
];
