/** The fields of a message, in their order. Credentials are hidden until the user asks: others may see the screen. */
import { Switch, Table, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { CopyIcon } from '../../parts/copy.tsx';
import { ShowAll } from '../../parts/show-all.tsx';
import { FoldedSection, numbered } from './section.tsx';
import { COVER, isSecret } from './secret-fields.ts';
import { visibleText } from './visible-text.ts';

interface Field {
  readonly name: string;
  readonly value: string;
}

/** Fewer are found by looking. */
const MANY = 12;
/** Drawn at first; a head may have a thousand. */
const FIRST = 60;

interface HeaderTableProps {
  readonly title: string;
  readonly fields: readonly Field[];
  /** Said where there are none. */
  readonly none: string;
  /** There is room for it beside the body. */
  readonly hasRoom?: boolean;
}

export function HeaderTable({ title, fields, none, hasRoom = false }: HeaderTableProps) {
  const [wanted, setWanted] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const needle = wanted.toLowerCase();
  const found = fields.filter(({ name, value }) => `${name}: ${value}`.toLowerCase().includes(needle));
  const shown = isWhole ? found : found.slice(0, FIRST);
  const said = ({ name, value }: Field): string => (isSecret(name) && !isOpen ? COVER : value);
  const actions = (
    <>
      {fields.some(({ name }) => isSecret(name)) && (
        <Switch size="xs" label="Show credentials" checked={isOpen} onChange={() => setOpen(!isOpen)} />
      )}
      {fields.length > 0 && (
        <CopyIcon value={found.map((field) => `${field.name}: ${said(field)}`).join('\n')} what={title.toLowerCase()} />
      )}
    </>
  );
  return (
    <FoldedSection
      title={title}
      actions={actions}
      fold={hasRoom ? 'headers-beside' : 'headers'}
      count={fields.length}
      isFirstOpen={hasRoom}
    >
      {fields.length > MANY && (
        <TextInput
          size="xs"
          aria-label={`Find in ${title.toLowerCase()}`}
          placeholder="Find a header"
          value={wanted}
          onChange={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      )}
      {found.length === 0 ? (
        <Text size="sm" c="dimmed">
          {fields.length === 0 ? none : 'No headers match.'}
        </Text>
      ) : (
        <Table className="culvert-fields" aria-label={title}>
          <Table.Tbody>
            {numbered(shown).map(({ at, row: field }) => (
              <Table.Tr key={at}>
                <Table.Th scope="row">
                  <bdi>{visibleText(field.name)}</bdi>
                </Table.Th>
                <Table.Td>
                  <bdi>{visibleText(said(field))}</bdi>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {shown.length < found.length && (
        <ShowAll count={found.length} shown={shown.length} onShow={() => setWhole(true)} />
      )}
    </FoldedSection>
  );
}
