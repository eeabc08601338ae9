/** One recorded request on a page of its own: where a phone shows it, and where links lead. */
import { Button, Card } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { Link, useParams } from 'wouter';
import { Page } from '../../parts/page.tsx';
import { RequestDetail } from './request-detail.tsx';
import { useTunnels } from './tunnels.ts';

export function RequestPage() {
  const { id } = useParams<{ id: string }>();
  const tunnels = useTunnels();
  const back = (
    <Button component={Link} href="/inspector" variant="default" leftSection={<IconArrowLeft size={16} />}>
      All requests
    </Button>
  );
  return (
    <Page title="Request" actions={back}>
      <Card withBorder>
        <RequestDetail id={id} tunnels={tunnels} />
      </Card>
    </Page>
  );
}
