module basketry/tests/groot

go 1.23.0

require go-hep.org/x/hep v0.37.0

require (
	codeberg.org/go-mmap/mmap v0.8.0 // indirect
	codeberg.org/gonuts/binary v0.3.2 // indirect
	github.com/hashicorp/go-uuid v1.0.3 // indirect
	github.com/klauspost/compress v1.18.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.22 // indirect
	github.com/pierrec/xxHash v0.1.5 // indirect
	github.com/ulikunitz/xz v0.5.12 // indirect
	golang.org/x/mod v0.24.0 // indirect
	golang.org/x/sync v0.14.0 // indirect
	golang.org/x/sys v0.33.0 // indirect
	golang.org/x/text v0.25.0 // indirect
	golang.org/x/tools v0.33.0 // indirect
	gonum.org/v1/gonum v0.16.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
