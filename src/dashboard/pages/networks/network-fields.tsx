/** The fields that several forms of networks and devices share. */
import { Group, SegmentedControl, Select, Stack, TagsInput, type TagsInputProps, Text, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { CopyLine } from '../../parts/copy.tsx';
import { TERMS, type Term } from './device-terms.ts';
import { isWireGuardKey, MAKE_KEY, makeKeyPair } from './wireguard.ts';

/** A list of addresses: each is ended by Enter, a comma or a space, and what stands there when the field is left counts too. */
export function AddressList(props: TagsInputProps) {
  return <TagsInput splitChars={[',', ' ', ';']} acceptValueOnBlur clearable={false} spellCheck={false} {...props} />;
}

/** Of a device. */
export function NetworksBehind(props: TagsInputProps) {
  return (
    <AddressList
      label="Routed networks"
      description="Only for a router to other networks, such as 192.168.9.0/24."
      maxTags={16}
      {...props}
    />
  );
}

/** Where a key comes from: `keep` is the one that is registered. */
export type KeySource = 'make' | 'paste' | 'keep';

export interface KeyValues {
  source: KeySource;
  public_key: string;
}

interface KeyFieldsProps {
  readonly values: KeyValues;
  readonly error: string | undefined;
  readonly onChange: (values: KeyValues) => void;
  readonly canMake: boolean;
  /** There is a key already, and it may stay. */
  readonly canKeep?: boolean;
  /** "the server", "the device". */
  readonly whose: string;
}

export function KeyFields({ values, error, onChange, canMake, canKeep = false, whose }: KeyFieldsProps) {
  const { source, public_key: key } = values;
  const isNarrow = useMediaQuery('(max-width: 30em)', undefined, { getInitialValueInEffect: false }) ?? false;
  const choices = [
    ...(canKeep ? [{ value: 'keep' as const, label: 'Keep its key' }] : []),
    ...(canMake ? [{ value: 'make' as const, label: 'Create keys here' }] : []),
    { value: 'paste' as const, label: 'Paste a key' },
  ];
  return (
    <Stack gap="xs">
      {choices.length > 1 && (
        <SegmentedControl
          fullWidth
          // Three of them are wider than a phone; below each other they are as high as a finger.
          {...(isNarrow && choices.length > 2 ? { orientation: 'vertical', size: 'md' } : {})}
          aria-label={`Keys for ${whose}`}
          value={source}
          onChange={(chosen) => onChange({ ...values, source: chosen })}
          data={choices}
        />
      )}
      {source === 'make' && (
        <Text size="xs" c="dimmed">
          The browser creates the private key and shows it once, in the config. The key is never sent.
        </Text>
      )}
      {source === 'paste' && (
        <>
          <TextInput
            label="Public key"
            description={`The private key stays on ${whose}. Create both keys there with this command:`}
            inputWrapperOrder={['label', 'input', 'error', 'description']}
            placeholder="44 characters, with = at the end"
            autoComplete="off"
            spellCheck={false}
            classNames={{ input: 'culvert-mono' }}
            value={key}
            error={error}
            onChange={(event) => onChange({ ...values, public_key: event.currentTarget.value.trim() })}
          />
          <CopyLine value={MAKE_KEY} what="the command that creates keys" />
          {!canMake && (
            <Text size="xs" c="dimmed">
              This browser can&apos;t create WireGuard keys. It needs HTTPS and a version from the last two years.
            </Text>
          )}
        </>
      )}
    </Stack>
  );
}

export function keyFault({ source, public_key: key }: KeyValues): string | null {
  if (source !== 'paste' || isWireGuardKey(key)) return null;
  return 'This is not a WireGuard public key. It has 44 characters and ends with =.';
}

/** Whether this browser makes keys; undefined for the moment that it takes to try. */
export function useCanMakeKeys(): boolean | undefined {
  const [can, setCan] = useState<boolean>();
  useEffect(() => {
    void makeKeyPair().then((pair) => setCan(pair !== undefined));
  }, []);
  return can;
}

interface TermFieldsProps {
  readonly term: Term;
  readonly at: string;
  readonly error: string | undefined;
  readonly onChange: (term: Term, at: string) => void;
}

/** When a device expires. */
export function TermFields({ term, at, error, onChange }: TermFieldsProps) {
  return (
    <Group gap="xs" align="flex-start" grow>
      <Select
        label="Access ends"
        data={TERMS.map(({ value, label }) => ({ value, label }))}
        value={term}
        allowDeselect={false}
        error={term === 'at' ? undefined : error}
        onChange={(value) => {
          const chosen = TERMS.find((one) => one.value === value);
          if (chosen !== undefined) onChange(chosen.value, at);
        }}
      />
      {term === 'at' && (
        <TextInput
          type="datetime-local"
          label="On"
          value={at}
          error={error}
          onChange={(event) => onChange(term, event.currentTarget.value)}
        />
      )}
    </Group>
  );
}
