/** The inspector: live and recorded requests. On a wide screen the selected request is beside the list, else on its own page. */
import { Button, Menu, Select, Stack, Text } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { IconDots, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useMenuDialog } from '../../parts/dialogs/row-menu.tsx';
import { Page } from '../../parts/page.tsx';
import { ArchiveDialog } from './export/export-dialogs.tsx';
import type { FeedState } from './live/feed.ts';
import { FilterBar } from './filters/filter-bar.tsx';
import { chosenIn, listHref, requestHref } from './filters/address.ts';
import { type Filter, filterIn, searchOf } from './filters/filter.ts';
import { ShortcutHelp } from './keyboard/shortcut-help.tsx';
import { useShortcuts } from './keyboard/shortcuts.ts';
import { ListAndRequest } from './list-and-request.tsx';
import { useLiveRequests } from './live/live-requests.ts';
import { RecordingNotes } from './recording/recording-notes.tsx';
import { type Tunnels, useTunnels } from './tunnels.ts';

export function InspectorPage() {
  const [, go] = useLocation();
  const search = useSearch();
  const key = searchOf(filterIn(search));
  const chosen = chosenIn(search);
  const filter = useMemo(() => filterIn(key), [key]);
  const { requests, status } = useLiveRequests(filter);
  const tunnels = useTunnels();
  const [isPaused, setPaused] = useState(false);
  const [isArchive, archive] = useDisclosure(false);
  const [isClear, clear] = useDisclosure(false);
  const isWide = useMediaQuery('(min-width: 68em)', undefined, { getInitialValueInEffect: false }) ?? false;
  const may = useMay('member');
  const [isHelp, help] = useDisclosure(false);
  const { button, from, back } = useMenuDialog();
  useShortcuts({ '?': help.open });
  // A link that was made on a wide screen, opened on a narrow one.
  const { request, against } = chosen;
  const [wasWide] = useState(isWide);
  if (!wasWide && request !== undefined) return <Redirect to={requestHref(request, filter, against)} replace />;
  // What is typed replaces itself; each choice can be taken back.
  const change = (next: Filter, isTyped = false): void => go(listHref(next), { replace: isTyped });
  const actions = (
    <>
      <FeedSign feed={status.feed} isPaused={isPaused} />
      <Button
        variant="default"
        leftSection={isPaused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
        onClick={() => setPaused(!isPaused)}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button ref={button} variant="default" px={10} aria-label="List actions">
            <IconDots size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={from(archive.open)}>Export as HAR</Menu.Item>
          <Menu.Item onClick={from(help.open)}>Keyboard shortcuts</Menu.Item>
          {may && (
            <Menu.Item color="red" onClick={from(clear.open)}>
              Delete recorded requests
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    </>
  );
  return (
    <Page title="Inspector" about="Requests to your tunnels, live." actions={actions}>
      <div className="culvert-inspector">
        <RecordingNotes tunnels={tunnels} />
        <FilterBar filter={filter} tunnels={tunnels} onChange={change} />
        <ListAndRequest
          key={key}
          filter={filter}
          chosen={chosen}
          requests={requests}
          status={status}
          tunnels={tunnels}
          isWide={isWide}
          isPaused={isPaused}
          onPaused={setPaused}
        />
      </div>
      <ShortcutHelp opened={isHelp} onClose={help.close} />
      <ArchiveDialog subject={{ filter }} opened={isArchive} onClose={archive.close} />
      <ClearDialog
        tunnels={tunnels}
        tunnel={filter.tunnel}
        opened={isClear}
        onClose={back(clear.close)}
        onCleared={() => {
          requests.list.reset([]);
          void requests.load();
        }}
      />
    </Page>
  );
}

const WORDS: Readonly<Record<FeedState, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  cut: 'Disconnected, retrying',
};

/** Whether new requests come by themselves. */
function FeedSign({ feed, isPaused }: { readonly feed: FeedState; readonly isPaused: boolean }) {
  const isHeld = isPaused && feed === 'live';
  return (
    <Text size="sm" role="status" className="culvert-feed" data-feed={isHeld ? 'paused' : feed}>
      {isHeld ? 'Paused' : WORDS[feed]}
    </Text>
  );
}

interface ClearDialogProps {
  readonly tunnels: Tunnels;
  /** The one that the list is of. */
  readonly tunnel: string | undefined;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onCleared: () => void;
}

/** Forgets what was recorded of a tunnel. */
function ClearDialog(props: ClearDialogProps) {
  return props.opened ? <Asked {...props} /> : null;
}

function Asked({ tunnels, tunnel, opened, onClose, onCleared }: ClearDialogProps) {
  const { client } = useApi();
  const [chosen, setChosen] = useState(tunnel ?? null);
  const [isMissing, setMissing] = useState(false);
  const clear = useAction({
    run: (id: string) => answered(client.DELETE('/inspector', { params: { query: { tunnel_id: id } } })),
    done: 'Recorded requests deleted.',
    touches: [['inspector']],
    onDone: () => {
      onCleared();
      onClose();
    },
    tellsFailure: true,
  });
  const name = chosen === null ? undefined : tunnels.nameOf(chosen);
  return (
    <Confirm
      title={name === undefined ? 'Delete recorded requests for a tunnel?' : `Delete recorded requests for ${name}?`}
      action="Delete recorded requests"
      opened={opened}
      isBusy={clear.isPending}
      error={clear.error}
      onConfirm={() => (chosen === null ? setMissing(true) : clear.mutate(chosen))}
      onClose={onClose}
    >
      <Stack gap="sm">
        <span>
          All recorded requests of the tunnel are deleted for the whole organization, with their bodies. Recording
          continues.
        </span>
        <Select
          label="Tunnel"
          searchable
          data={tunnels.all.map(({ id, subdomain }) => ({ value: id, label: subdomain }))}
          value={chosen}
          error={isMissing && chosen === null ? 'Choose a tunnel.' : undefined}
          onChange={setChosen}
        />
      </Stack>
    </Confirm>
  );
}
