/** Requests as they come, and those that were recorded. Where there is room the chosen one stands beside the list; elsewhere it has its own page. */
import { Button, Menu } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { IconDots, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useMay } from '../../api/context.tsx';
import { useMenuDialog } from '../../parts/menu-dialog.ts';
import { Page } from '../../parts/page.tsx';
import { ClearDialog } from './clear-dialog.tsx';
import { ArchiveDialog } from './export-dialogs.tsx';
import { FeedSign } from './feed-sign.tsx';
import { type Filter, filterIn, searchOf } from './filter.ts';
import { FilterBar } from './filter-bar.tsx';
import { ListAndRequest } from './list-and-request.tsx';
import { useLiveRequests } from './live-requests.ts';
import { RecordingNotes } from './recording-notes.tsx';
import { useTunnels } from './tunnels.ts';

export function InspectorPage() {
  const [, go] = useLocation();
  const key = searchOf(filterIn(useSearch()));
  const filter = useMemo(() => filterIn(key), [key]);
  const { requests, status } = useLiveRequests(filter);
  const tunnels = useTunnels();
  const [isPaused, setPaused] = useState(false);
  const [isArchive, archive] = useDisclosure(false);
  const [isClear, clear] = useDisclosure(false);
  const isWide = useMediaQuery('(min-width: 68em)', undefined, { getInitialValueInEffect: false }) ?? false;
  const may = useMay('member');
  const { button, from, back } = useMenuDialog();
  const change = (next: Filter): void => {
    const search = searchOf(next);
    go(search === '' ? '/inspector' : `/inspector?${search}`, { replace: true });
  };
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
          <Button ref={button} variant="default" px={10} aria-label="More for the list">
            <IconDots size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={from(archive.open)}>Export as HAR</Menu.Item>
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
    <Page title="Inspector" about="Every request of your tunnels, as it comes." actions={actions}>
      <div className="culvert-inspector">
        <RecordingNotes tunnels={tunnels} />
        <FilterBar filter={filter} tunnels={tunnels} onChange={change} />
        <ListAndRequest
          key={key}
          filter={filter}
          requests={requests}
          status={status}
          tunnels={tunnels}
          isWide={isWide}
          isPaused={isPaused}
          onPaused={setPaused}
        />
      </div>
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
