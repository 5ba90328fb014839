package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/arms/room"
	"stet/audit"
	"stet/cmd/internal/config"
	"stet/gateway"
	"stet/gateway/bind"
)

// canary stands in every fixture where a secret may stand by mistake.
const canary = "secret-canary"

func sections() config.Sections {
	return config.Sections{room.Platform: &room.Config{}}
}

func env(pairs ...string) config.Getenv {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func load(t *testing.T, path string, pairs ...string) (config.Settings, error) {
	t.Helper()
	s := config.Default()
	s.ConfigPath = path
	return config.Load(s, env(pairs...), sections())
}

// loadText loads a file with the given content.
func loadText(t *testing.T, content string, pairs ...string) (config.Settings, error) {
	t.Helper()
	return load(t, write(t, "stet.yaml", content), pairs...)
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func fixtures(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s: %v", folder, err)
	}
	return files
}

func TestEveryGoodFileLoads(t *testing.T) {
	for _, path := range fixtures(t, "good") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if _, err := load(t, path); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEveryBadFileSaysItsMistakeAndShowsNoSecret(t *testing.T) {
	for _, path := range fixtures(t, "bad") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			raw, err := os.ReadFile(strings.TrimSuffix(path, ".yaml") + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			_, err = load(t, path)
			if err == nil {
				t.Fatal("the file was accepted")
			}
			got := strings.ReplaceAll(err.Error(), path+": ", "")
			if want := strings.TrimSpace(string(raw)); got != want {
				t.Errorf("error:\n%s\nwant:\n%s", got, want)
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the error shows a value: %s", err)
			}
		})
	}
}

func TestWithoutAFileTheDefaultsOfTheContractStand(t *testing.T) {
	s, err := load(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if s.Listen != "127.0.0.1:8484" || s.Data != "./stet-data" || s.DryRun {
		t.Errorf("listen %q, data %q, dry run %t", s.Listen, s.Data, s.DryRun)
	}
	if s.EditWindow != 4*time.Hour || s.PlatformTimeout != 15*time.Second || s.MaxWait != 10*time.Second {
		t.Errorf("edit window %s, platform timeout %s, max wait %s", s.EditWindow, s.PlatformTimeout, s.MaxWait)
	}
}

func TestAFileChangesOnlyWhatItNames(t *testing.T) {
	s, err := loadText(t, "sweep: {interval: 2s}\nroom: {text_limit: 7}\n")
	if err != nil {
		t.Fatal(err)
	}
	if s.Sweep.Interval != 2*time.Second || s.Sweep.Margin != 0 {
		t.Errorf("sweep: %+v", s.Sweep)
	}
	if got := config.SectionOf[room.Config](s, room.Platform); got.TextLimit != 7 {
		t.Errorf("room: %+v", got)
	}
}

func TestTheFullFileReachesEverySetting(t *testing.T) {
	s, err := load(t, "testdata/good/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if s.Transcript.Keep != 48*time.Hour || s.SweepMargin() != 40*time.Second || s.Resolve.Settle != 20*time.Second {
		t.Errorf("%+v %+v %+v", s.Transcript, s.Sweep, s.Resolve)
	}
	r := config.SectionOf[room.Config](s, room.Platform)
	if r.SettleTime != 3*time.Second || r.Faults.Rate != 0.25 || len(r.Script) != 1 {
		t.Errorf("room: %+v", r)
	}
}

func TestAKeysPathIsReadFromTheFolderOfTheFile(t *testing.T) {
	path := write(t, "stet.yaml", "keys: {host_file: first/host}")
	folder := filepath.Join(filepath.Dir(path), "first")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	want := key(bind.HostKey)
	if err := os.WriteFile(filepath.Join(folder, "host"), []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := load(t, path); err != nil || s.HostKey.Reveal() != want {
		t.Errorf("error %v, or not the key of the path", err)
	}
}

func TestDefaultsHandedInStayAsTheyWere(t *testing.T) {
	mine := &room.Config{TextLimit: 9}
	s := config.Default()
	s.ConfigPath = write(t, "stet.yaml", "room: {settle_time: 1s}\n")
	got, err := config.Load(s, env(), config.Sections{room.Platform: mine})
	if err != nil {
		t.Fatal(err)
	}
	if r := config.SectionOf[room.Config](got, room.Platform); r.TextLimit != 9 || r.SettleTime != time.Second {
		t.Errorf("decoded: %+v", r)
	}
	if mine.SettleTime != 0 {
		t.Error("the defaults were written to")
	}
}

func TestASectionThatIsNoPointerToAStructIsAnError(t *testing.T) {
	s := config.Default()
	s.ConfigPath = write(t, "stet.yaml", "")
	_, err := config.Load(s, env(), config.Sections{"odd": oddSection(1)})
	if err == nil || !strings.Contains(err.Error(), "no pointer to a struct") {
		t.Errorf("error: %v", err)
	}
}

type oddSection int

func (oddSection) Validate() error { return nil }

func TestAMissingFileIsAnErrorThatNamesIt(t *testing.T) {
	if _, err := load(t, "nowhere.yaml"); err == nil || !strings.Contains(err.Error(), "nowhere.yaml") {
		t.Errorf("error: %v", err)
	}
}

func TestAHugeFileIsRefused(t *testing.T) {
	_, err := loadText(t, strings.Repeat("# padding\n", 200_000))
	if err == nil || !strings.Contains(err.Error(), "over 1048576 bytes") {
		t.Errorf("error: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, folder := range []string{"good", "bad"} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			raw, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(raw))
		}
	}
	f.Fuzz(func(t *testing.T, content string) {
		s, err := loadText(t, content)
		if err != nil {
			if strings.Contains(err.Error(), "config.file") || strings.Contains(err.Error(), "struct {") {
				t.Errorf("the error names a Go type: %s", err)
			}
			return
		}
		if err := s.Validate(); err != nil {
			t.Errorf("what was loaded doesn't validate: %s", err)
		}
		if s.SweepMargin() <= s.PlatformTimeout+audit.CommitLimit+gateway.Grace {
			t.Errorf("accepted a margin of %s", s.SweepMargin())
		}
	})
}

func key(kind bind.Kind) string {
	clear, _ := bind.Mint(kind)
	return clear
}
