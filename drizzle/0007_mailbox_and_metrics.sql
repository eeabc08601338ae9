CREATE TABLE `webhook_deliveries` (
	`sequence` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`receiver_id` text NOT NULL,
	`received_at` integer NOT NULL,
	`event_type` text,
	`delivery_id` text,
	`content_type` text,
	`headers` text NOT NULL,
	`body` blob NOT NULL,
	`bytes` integer NOT NULL,
	FOREIGN KEY (`receiver_id`) REFERENCES `webhook_receivers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_id` ON `webhook_deliveries` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_delivery` ON `webhook_deliveries` (`receiver_id`,`delivery_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_receiver` ON `webhook_deliveries` (`receiver_id`,`sequence`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_received` ON `webhook_deliveries` (`received_at`);--> statement-breakpoint
CREATE TABLE `webhook_receivers` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`name` text NOT NULL,
	`validator` text NOT NULL,
	`sealed_secret` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`stored_bytes` integer DEFAULT 0 NOT NULL,
	`stored_count` integer DEFAULT 0 NOT NULL,
	`received` integer DEFAULT 0 NOT NULL,
	`displaced` integer DEFAULT 0 NOT NULL,
	`last_received_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_receivers_org` ON `webhook_receivers` (`org_id`);--> statement-breakpoint
CREATE TABLE `usage_buckets` (
	`org_id` text NOT NULL,
	`width_seconds` integer NOT NULL,
	`starts_at` integer NOT NULL,
	`requests` integer NOT NULL,
	`bytes_in` integer NOT NULL,
	`bytes_out` integer NOT NULL,
	PRIMARY KEY(`org_id`, `width_seconds`, `starts_at`),
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `usage_buckets_past` ON `usage_buckets` (`width_seconds`,`starts_at`);