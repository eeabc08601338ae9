/** What can be done with a recorded request: replay, copy, compare, export; by buttons and by single keys. */
import { Button, Menu, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDots, IconRepeat } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useApi, useMay } from '../../api/context.tsx';
import { say } from '../../parts/action.ts';
import { copyText } from '../../parts/copy.tsx';
import { useMenuDialog } from '../../parts/dialogs/row-menu.tsx';
import { COPY_FORMS, CopyDialog, type CopyForm, curlOf } from './export/copy-dialog.tsx';
import { ArchiveDialog } from './export/export-dialogs.tsx';
import { ShareDialog } from './export/share-dialog.tsx';
import { listHref, requestHref } from './filters/address.ts';
import { filterIn } from './filters/filter.ts';
import { useShortcuts } from './keyboard/shortcuts.ts';
import type { Detail } from './messages.ts';
import { useRecording } from './recording/recording-notes.tsx';
import { ReplayDialog } from './replay/replay-dialog.tsx';
import { noReplay } from './replay/replay-edits.ts';

export function RequestActions({ detail }: { readonly detail: Detail }) {
  const api = useApi();
  const may = useMay('member');
  const [, go] = useLocation();
  const filter = filterIn(useSearch());
  const why = noReplay(useRecording().data, detail.tunnel_id);
  const [isReplay, replay] = useDisclosure(false);
  const [isArchive, archive] = useDisclosure(false);
  const [isShare, share] = useDisclosure(false);
  const [form, setForm] = useState<CopyForm>();
  const { button, from } = useMenuDialog();
  const isBlocked = detail.outcome === 'refused';
  const compareHref = listHref(filter, { against: detail.id });
  const copyCurl = async (): Promise<void> => {
    const text = await curlOf(api, detail.id, { isFull: false }).catch(() => undefined);
    if (text !== undefined && (await copyText(text))) say('curl command copied, without credentials.');
    // Shows the command to select, or why there is none.
    else setForm('curl');
  };
  useShortcuts({
    c: () => void copyCurl(),
    d: () => go(compareHref),
    ...(may && why === undefined && { r: replay.open }),
  });
  return (
    <>
      {may && (
        <Tooltip
          label={why}
          disabled={why === undefined}
          events={{ hover: true, focus: true, touch: true }}
          multiline
          maw={280}
        >
          <Button
            variant="default"
            leftSection={<IconRepeat size={16} />}
            data-disabled={why !== undefined}
            aria-disabled={why !== undefined}
            aria-description={why}
            onClick={why === undefined ? replay.open : undefined}
          >
            {isBlocked ? 'Send again' : 'Replay'}
          </Button>
        </Tooltip>
      )}
      <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button ref={button} variant="default" px={10} aria-label="Request actions">
            <IconDots size={16} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {COPY_FORMS.map(({ value, label }) => (
            <Menu.Item key={value} onClick={from(() => setForm(value))}>
              Copy as {label}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item component={Link} href={compareHref}>
            Compare with another request
          </Menu.Item>
          {detail.replay_of !== null && (
            <Menu.Item component={Link} href={requestHref(detail.id, filter, detail.replay_of)}>
              Compare with the first request
            </Menu.Item>
          )}
          <Menu.Item component={Link} href={`/inspector?replayOf=${detail.id}`}>
            Show replays
          </Menu.Item>
          {may && <Menu.Item onClick={from(share.open)}>Share by link</Menu.Item>}
          <Menu.Item onClick={from(archive.open)}>Export as HAR</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ReplayDialog detail={detail} opened={isReplay} onClose={replay.close} />
      <CopyDialog detail={detail} form={form} onClose={() => setForm(undefined)} />
      <ShareDialog id={detail.id} opened={isShare} onClose={share.close} />
      <ArchiveDialog subject={{ id: detail.id }} opened={isArchive} onClose={archive.close} />
    </>
  );
}
