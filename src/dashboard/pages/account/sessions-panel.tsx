/** The sessions of the account, and the ways to end them. */
import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { useAsked } from '../../parts/dialogs/asked.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { isCommandLine, programWords } from './program-labels.ts';

type Session = Schemas['Session'];

const AGAIN_MS = 15_000;

export function SessionsPanel() {
  const { client } = useApi();
  const [asking, { open, close }] = useDisclosure(false);
  const ending = useAsked<Session>();
  const sessions = useQuery({
    queryKey: ['me', 'sessions'],
    queryFn: async ({ signal }) => (await answered(client.GET('/auth/sessions', { signal }))).sessions,
    refetchInterval: AGAIN_MS,
  });
  const end = useAction({
    run: (id: string) => answered(client.DELETE('/auth/sessions/{id}', { params: { path: { id } } })),
    done: 'Session ended.',
    touches: [['me']],
    onDone: ending.close,
    tellsFailure: ending.opened,
  });
  const endOthers = useAction({
    run: () => answered(client.DELETE('/auth/sessions')),
    done: ({ revoked }) => (revoked === 1 ? '1 session ended.' : `${revoked} sessions ended.`),
    touches: [['me']],
    onDone: close,
    tellsFailure: true,
  });
  const others = sessions.data?.filter(({ current }) => !current).length ?? 0;
  // A browser has nothing to lose: it logs in again.
  const onEnd = (session: Session): void => {
    if (!isCommandLine(session.user_agent)) return end.mutate(session.id);
    end.reset();
    ending.ask(session);
  };
  const columns = columnsFor(end.isPending ? end.variables : undefined, onEnd);
  return (
    <Panel
      title="Sessions"
      about="Browsers and CLIs that are logged in as you."
      actions={
        <Button variant="default" disabled={others === 0} onClick={open}>
          End other sessions
        </Button>
      }
    >
      <Loaded query={sessions}>
        {(rows) => <Table label="Sessions" rows={rows} rowKey={({ id }) => id} columns={columns} />}
      </Loaded>
      <Confirm
        title="End all other sessions?"
        action="End other sessions"
        opened={asking}
        isBusy={endOthers.isPending}
        error={endOthers.error}
        onConfirm={() => endOthers.mutate()}
        onClose={() => {
          endOthers.reset();
          close();
        }}
      >
        You are logged out everywhere except here. Logged-in CLIs lose their keys, and their tunnels go offline.
      </Confirm>
      <Confirm
        title={`End the session of ${nameOf(ending.row)}?`}
        action="End session"
        opened={ending.opened}
        isBusy={end.isPending}
        error={end.error}
        onConfirm={() => ending.row !== undefined && end.mutate(ending.row.id)}
        onClose={() => {
          end.reset();
          ending.close();
        }}
      >
        Its key is revoked, and its tunnels go offline. To publish from that machine again, run culvert login there.
      </Confirm>
    </Panel>
  );
}

/** `ending`: the session that is being ended. */
function columnsFor(ending: string | undefined, onEnd: (session: Session) => void): ReadonlyArray<Column<Session>> {
  return [
    { key: 'program', title: 'Client', cell: (row) => <Program session={row} /> },
    { key: 'address', title: 'IP address', cell: ({ ip_address: ip }) => <span className="culvert-mono">{ip}</span> },
    { key: 'used', title: 'Last used', cell: ({ last_used_at: at }) => <Ago at={at} /> },
    { key: 'begun', title: 'Logged in', cell: ({ created_at: at }) => <Ago at={at} /> },
    {
      key: 'actions',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: (session) =>
        session.current ? null : (
          <Button
            size="xs"
            variant="default"
            aria-label={`End the session with ${programWords(session.user_agent)} from ${session.ip_address}`}
            loading={ending === session.id}
            onClick={() => onEnd(session)}
          >
            End
          </Button>
        ),
    },
  ];
}

/** "the CLI on ann-laptop", inside a sentence. */
function nameOf(session: Session | undefined): string {
  if (session === undefined) return '';
  return programWords(session.user_agent).replace(/^CLI/, 'the CLI');
}

function Program({ session: { user_agent: program, current } }: { readonly session: Session }) {
  return (
    <Group gap="xs" title={program}>
      <Text size="sm">{programWords(program)}</Text>
      {current && <StateBadge tone="good">Current</StateBadge>}
    </Group>
  );
}
