CREATE TABLE `billing_events` (
	`id` text PRIMARY KEY NOT NULL,
	`received_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `billing_events_received` ON `billing_events` (`received_at`);--> statement-breakpoint
CREATE TABLE `subscriptions` (
	`org_id` text PRIMARY KEY NOT NULL,
	`customer_id` text NOT NULL,
	`subscription_id` text,
	`status` text,
	`plan` text,
	`cycle` text,
	`current_period_ends_at` integer,
	`cancels` integer DEFAULT false NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `subscriptions_updated` ON `subscriptions` (`updated_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_customer` ON `subscriptions` (`customer_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `subscriptions_subscription` ON `subscriptions` (`subscription_id`);--> statement-breakpoint
CREATE TABLE `revoked_nonces` (
	`token_id` text PRIMARY KEY NOT NULL,
	`nonce` text NOT NULL,
	`minter_id` text,
	`from_at` integer NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `revoked_nonces_minter` ON `revoked_nonces` (`minter_id`,`until`);--> statement-breakpoint
CREATE INDEX `revoked_nonces_until` ON `revoked_nonces` (`until`);--> statement-breakpoint
CREATE TABLE `token_spend` (
	`lineage_id` text NOT NULL,
	`month` text NOT NULL,
	`bytes` integer NOT NULL,
	`requests` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`lineage_id`, `month`)
);
--> statement-breakpoint
CREATE TABLE `reserved_subdomains` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`subdomain` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `reserved_subdomains_subdomain` ON `reserved_subdomains` (`subdomain`);--> statement-breakpoint
CREATE INDEX `reserved_subdomains_org` ON `reserved_subdomains` (`org_id`);--> statement-breakpoint
DROP INDEX `tunnels_org`;--> statement-breakpoint
ALTER TABLE `tunnels` ADD `started_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `tunnels_live_org` ON `tunnels` (`org_id`,`deleted_at`,`created_at`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `tunnels_made` ON `tunnels` (`org_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `tunnels_idle` ON `tunnels` (`touched_at`) WHERE deleted_at IS NULL;--> statement-breakpoint
CREATE INDEX `tunnels_deleted` ON `tunnels` (`deleted_at`) WHERE deleted_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `tunnels_freed_port` ON `tunnels` (`tcp_port`,`deleted_at`) WHERE deleted_at IS NOT NULL AND tcp_port IS NOT NULL;--> statement-breakpoint
ALTER TABLE `capability_tokens` ADD `lineage_id` text;--> statement-breakpoint
ALTER TABLE `capability_tokens` ADD `grace_ends_at` integer;--> statement-breakpoint
CREATE INDEX `capability_tokens_creator` ON `capability_tokens` (`created_by`);--> statement-breakpoint
CREATE INDEX `capability_tokens_expires` ON `capability_tokens` (`expires_at`);--> statement-breakpoint
CREATE INDEX `capability_tokens_revoked` ON `capability_tokens` (`revoked_at`) WHERE revoked_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `capability_tokens_lineage` ON `capability_tokens` (`lineage_id`);--> statement-breakpoint
CREATE INDEX `capability_tokens_grace` ON `capability_tokens` (`grace_ends_at`) WHERE grace_ends_at IS NOT NULL AND revoked_at IS NULL;--> statement-breakpoint
CREATE INDEX `organizations_barred` ON `organizations` (`id`) WHERE approval_status <> 'approved';--> statement-breakpoint
CREATE INDEX `resting_names_deleted` ON `resting_names` (`deleted_at`);--> statement-breakpoint
UPDATE `capability_tokens` SET `lineage_id` = `id`;
--> statement-breakpoint
UPDATE `tunnels` SET `started_at` = `created_at`;
--> statement-breakpoint
INSERT INTO `revoked_nonces` (`token_id`, `nonce`, `minter_id`, `from_at`, `until`) SELECT `id`, `nonce`, coalesce(`parent_id`, `created_by`), `revoked_at`, `expires_at` FROM `capability_tokens` WHERE `revoked_at` IS NOT NULL;
