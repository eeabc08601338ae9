/** One recorded request on a page of its own, or two compared: where a phone shows it, and where links lead. */
import { Button, Card } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { IconArrowLeft } from '@tabler/icons-react';
import { Link, useParams, useSearch } from 'wouter';
import { Page } from '../../parts/page.tsx';
import { CompareView } from './compare/compare-view.tsx';
import { chosenIn, listHref, requestHref } from './filters/address.ts';
import { filterIn } from './filters/filter.ts';
import { ShortcutHelp } from './keyboard/shortcut-help.tsx';
import { useShortcuts } from './keyboard/shortcuts.ts';
import { RequestDetail } from './request-detail.tsx';
import { useTunnels } from './tunnels.ts';

export function RequestPage() {
  const { id } = useParams<{ id: string }>();
  const search = useSearch();
  const tunnels = useTunnels();
  const isWide = useMediaQuery('(min-width: 68em)', undefined, { getInitialValueInEffect: false }) ?? false;
  const [isHelp, help] = useDisclosure(false);
  useShortcuts({ '?': help.open });
  const filter = filterIn(search);
  const { against } = chosenIn(search);
  const back = (
    <Button component={Link} href={listHref(filter)} variant="default" leftSection={<IconArrowLeft size={16} />}>
      All requests
    </Button>
  );
  return (
    <Page title={against === undefined ? 'Request' : 'Compare requests'} actions={back}>
      <Card withBorder>
        {against === undefined ? (
          <RequestDetail id={id} tunnels={tunnels} hasRoom={isWide} />
        ) : (
          <CompareView left={against} right={id}>
            <Button component={Link} href={requestHref(against, filter, id)} variant="default">
              Swap
            </Button>
            <Button component={Link} href={requestHref(id, filter)} variant="default">
              Close comparison
            </Button>
          </CompareView>
        )}
      </Card>
      <ShortcutHelp opened={isHelp} onClose={help.close} />
    </Page>
  );
}
