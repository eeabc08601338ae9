/** The export of the filtered audit log as a file. */
import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { say, useAction } from '../../parts/action.ts';
import { saveText } from '../../parts/download.tsx';
import { countText } from '../../parts/format.ts';
import { collectEvents, csvOf, jsonOf, MAX_EXPORTED } from './export.ts';
import { type Scope, useAskPage } from './audit-log.ts';
import type { Filter } from './filter.ts';

interface ExportMenuProps {
  readonly scope: Scope;
  readonly filter: Filter;
}

const FORMS = {
  csv: { title: 'CSV, for spreadsheets', write: csvOf },
  json: { title: 'JSON', write: jsonOf },
} as const;
type Form = keyof typeof FORMS;

export function ExportMenu({ scope, filter }: ExportMenuProps) {
  const ask = useAskPage(scope, filter);
  const save = useAction({
    run: async (form: Form) => ({ form, events: await collectEvents(ask) }),
    onDone: ({ form, events }) => {
      saveText(FORMS[form].write(events), `culvert-audit-${new Date().toISOString().slice(0, 10)}.${form}`);
      if (events.length === MAX_EXPORTED)
        say(`The file has the newest ${countText(MAX_EXPORTED)} events. Narrow the filters to export older ones.`);
    },
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />} loading={save.isPending}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.keys(FORMS) as Form[]).map((form) => (
          <Menu.Item key={form} onClick={() => save.mutate(form)}>
            {FORMS[form].title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
