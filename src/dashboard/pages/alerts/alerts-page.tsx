/** Alerts: rules that send messages when something is wrong, and what fired last. */
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBell, IconPlus } from '@tabler/icons-react';
import { useMay } from '../../api/context.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useAlerts } from './alert-queries.ts';
import { AlertTable } from './alert-table.tsx';
import { CreateAlert } from './create-alert.tsx';
import { HistoryPanel } from './history-panel.tsx';

export function AlertsPage() {
  const alerts = useAlerts();
  const mayMake = useMay('member');
  const [isOpen, { open, close }] = useDisclosure(false);
  const button = mayMake && (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      New alert
    </Button>
  );
  return (
    <Page
      title="Alerts"
      about="Get a message when a tunnel is offline, slow or failing, and when it is well again."
      actions={alerts.data?.length === 0 ? undefined : button}
    >
      <Loaded query={alerts}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon={IconBell} title="No alerts yet" action={button}>
              Create a rule, for example: send an email when a tunnel is offline for five minutes. Messages also go to
              Slack, Discord, ntfy, PagerDuty and webhooks.
              {!mayMake && " Viewers can't create alerts. Ask an admin for the member role."}
            </Empty>
          ) : (
            <>
              <AlertTable alerts={all} />
              <HistoryPanel />
            </>
          )
        }
      </Loaded>
      <CreateAlert opened={isOpen} onClose={close} />
    </Page>
  );
}
